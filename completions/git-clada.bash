# bash completion for git clada: git's own completion calls _git_clada for `git clada`.

_git_clada() {
	local i start=1 words
	for ((i = 1; i < ${#COMP_WORDS[@]}; i++)); do
		[ "${COMP_WORDS[i]}" = clada ] && start=$((i + 1)) && break
	done
	words=("${COMP_WORDS[@]:start:COMP_CWORD - start}")
	words+=("${COMP_WORDS[COMP_CWORD]}")
	local reply
	reply=$(git-clada complete -- "${words[@]}" 2>/dev/null)
	if [ "${#words[@]}" -gt 1 ] && [[ "${words[-1]}" != -* ]]; then
		COMPREPLY=($(compgen -f -- "${words[-1]}"))
	else
		COMPREPLY=($(compgen -W "$reply" -- "${words[-1]}"))
	fi
}
