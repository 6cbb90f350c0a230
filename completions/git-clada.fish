# fish completion for git clada.

function __git_clada_candidates
	set -l words (commandline -opc) (commandline -ct)
	set -l i (contains -i clada $words)
	test -n "$i"; and git-clada complete -- $words[(math $i + 1)..-1] 2>/dev/null
end

complete -c git -n '__fish_seen_subcommand_from clada' -a '(__git_clada_candidates)'
complete -c git -n 'not __fish_seen_subcommand_from clada' -a clada -d "carry out a language model's reply"
