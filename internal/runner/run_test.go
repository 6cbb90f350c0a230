package runner

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if status, is := Helper(os.Args); is {
		os.Exit(status)
	}
	os.Exit(m.Run())
}

// shell gives a program that runs a script.
func shell(t *testing.T, script string) Program {
	t.Helper()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	return Program{Path: sh, Args: []string{"sh", "-c", script}, Dir: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH")}, Timeout: time.Minute}
}

func ran(t *testing.T, p Program) *Outcome {
	t.Helper()
	return Run(context.Background(), p)
}

// TestRun: streams apart and merged, exit status, no input, the directory and nothing but the given environment.
func TestRun(t *testing.T) {
	p := shell(t, `echo out; echo err >&2; read x || echo no input; pwd; env | sort; exit 3`)
	p.Env = append(p.Env, "A=\xff\xfe")
	o := ran(t, p)
	if o.Exit != 3 || o.Signal != "" || o.Failure != "" || o.TimedOut || o.Truncated {
		t.Errorf("%+v", o)
	}
	if string(o.Stderr) != "err\n" {
		t.Errorf("stderr %q", o.Stderr)
	}
	for _, want := range []string{"out\nno input\n" + p.Dir + "\n", "A=\xff\xfe\n"} {
		if !strings.Contains(string(o.Stdout), want) {
			t.Errorf("stdout lacks %q:\n%s", want, o.Stdout)
		}
	}
	if vars := strings.Count(string(o.Stdout), "="); vars > 5 {
		t.Errorf("more in the environment than was given:\n%s", o.Stdout)
	}
	if got := strings.Join(o.Lines, "|"); !strings.Contains(got, "out") || !strings.Contains(got, "err") {
		t.Errorf("lines %q", got)
	}
	if int64(len(o.Stdout)+len(o.Stderr)) != o.Bytes || len(o.Sum()) != 64 {
		t.Error("sizes", o.Bytes, o.Sum())
	}
}

// TestNoTerminal: a program has no terminal to ask on or to deceive, even if we have one.
func TestNoTerminal(t *testing.T) {
	o := ran(t, shell(t, `: </dev/tty && echo has a terminal`))
	if strings.Contains(string(o.Stdout), "has a terminal") {
		t.Error("it has one")
	}
}

// TestCannotStart: what cannot be started says why.
func TestCannotStart(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "not-a-program")
	if err := os.WriteFile(file, []byte{0, 1, 2}, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		p       Program
		missing bool
	}{
		"missing":           {Program{Path: dir + "/missing", Args: []string{"missing"}, Dir: dir}, true},
		"missing, confined": {Program{Path: dir + "/missing", Args: []string{"missing"}, Dir: dir, Confine: Confinement{ReadsAll: true}}, false},
		"no program":        {Program{Path: file, Args: []string{"x"}, Dir: dir}, false},
		"no directory":      {Program{Path: "/bin/sh", Args: []string{"sh"}, Dir: dir + "/gone"}, true},
	} {
		o := ran(t, c.p)
		if o.Failure == "" || o.Exit != -1 || o.Missing != c.missing {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

// TestSignals: a program that a signal ended says which.
func TestSignals(t *testing.T) {
	if o := ran(t, shell(t, `kill -SEGV $$`)); o.Signal != "SIGSEGV" || o.Exit != -1 {
		t.Errorf("%+v", o)
	}
}

// TestTimeout: at the end of its time a program is asked to end, and when the grace is over it is ended, with what it
// printed kept.
func TestTimeout(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"polite":   {`trap 'echo bye; exit 0' TERM; echo started; while :; do sleep 0.05; done`, "started\nbye\n"},
		"stubborn": {`trap '' TERM; echo started; while :; do sleep 0.05; done`, "started\n"},
		"stopped":  {`echo started; kill -STOP $$`, "started\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := shell(t, c.script)
			p.Timeout, p.Grace = 3*time.Second, time.Second // enough for a busy machine to start a shell
			o := ran(t, p)
			if !o.TimedOut || o.Exit != -1 || string(o.Stdout) != c.want {
				t.Errorf("%+v %q", o, o.Stdout)
			}
		})
	}
}

// TestCancel: cancelling ends the program in the same way, and says so.
func TestCancel(t *testing.T) {
	p := shell(t, `echo started; exec sleep 100`)
	ctx, cancel := context.WithCancel(context.Background())
	p.Live = func(string) { cancel() }
	o := Run(ctx, p)
	if !o.Interrupted || o.TimedOut || string(o.Stdout) != "started\n" {
		t.Errorf("%+v", o)
	}
}

// escape starts a process that leaves its group and session and ignores signals, and writes its number to a file.
const escape = `setsid sh -c 'trap "" TERM HUP INT; echo $$ >%s; exec >/dev/null 2>&1 </dev/null; while :; do sleep 0.05; done' & while [ ! -s %[1]s ]; do sleep 0.01; done; `

func alive(t *testing.T, file string) bool {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil && strings.Contains(string(stat), ") Z ") {
		return false // dead; whoever adopted it has not noticed yet
	}
	return syscall.Kill(pid, 0) == nil
}

// TestNoOrphans: nothing that a program started lives on, whether the program exits, is ended, or closes its streams.
func TestNoOrphans(t *testing.T) {
	if programName == "" || self() != "/proc/self/exe" {
		t.Skip("only Linux lets a process adopt orphans")
	}
	for name, script := range map[string]string{
		"exits":            escape + `exit 0`,
		"runs on":          escape + `echo ready; sleep 100`,
		"ignores signals":  escape + `trap "" TERM; echo ready; while :; do sleep 0.05; done`,
		"closes and stays": escape + `echo ready; exec >&- 2>&-; sleep 100`,
		"in the group":     `sh -c 'trap "" TERM; echo $$ >%s; while :; do sleep 0.05; done' & while [ ! -s %[1]s ]; do sleep 0.01; done; exit 0`,
	} {
		file := filepath.Join(t.TempDir(), "pid")
		p := shell(t, fmt.Sprintf(script, file))
		p.Grace = 200 * time.Millisecond
		ctx, cancel := context.WithCancel(context.Background())
		p.Live = func(string) { cancel() } // it is ready
		o := Run(ctx, p)
		cancel()
		if o.Failure != "" || alive(t, file) {
			t.Errorf("%s: it lives on; %+v", name, o)
		}
		if o.Leftover == 0 && name != "in the group" {
			t.Errorf("%s: nothing was found to end", name)
		}
	}
}

// TestForkBomb: processes that keep forking, in groups of their own and deaf to signals, are all ended. The bomb stops by
// itself at a depth of 7, which is some 250 processes.
func TestForkBomb(t *testing.T) {
	if self() != "/proc/self/exe" {
		t.Skip("only Linux lets a process adopt orphans")
	}
	p := shell(t, `
cat >bomb <<'EOF'
trap "" TERM HUP INT
[ "$1" -gt 0 ] || exec sleep 100
setsid sh bomb $(($1-1)) & sh bomb $(($1-1)) &
wait
EOF
sh bomb 7`)
	p.Timeout, p.Grace = 3*time.Second, 100*time.Millisecond
	o := ran(t, p)
	left, err := exec.Command("sh", "-c", "ps -eo pid,ppid,args | grep -c '[s]h bomb'").Output()
	if !o.TimedOut || strings.TrimSpace(string(left)) != "0" {
		t.Errorf("left %q (%v), %+v", left, err, o)
	}
	t.Log(o.Leftover, "processes outside the group were ended")
}

// TestSupervisorKilled: a program that kills its supervisor dies too, and the loss is reported.
func TestSupervisorKilled(t *testing.T) {
	if self() != "/proc/self/exe" {
		t.Skip("only Linux ends a program when its supervisor dies")
	}
	file := filepath.Join(t.TempDir(), "pid")
	o := ran(t, shell(t, `echo $$ >`+file+`; kill -9 $PPID; sleep 100`))
	if o.Failure == "" || !strings.Contains(o.Failure, "killed") {
		t.Errorf("%+v", o)
	}
	for i := 0; alive(t, file); i++ { // its death signal is on the way
		if i == 1000 {
			t.Fatal("the program lives on")
		}
		exec.Command("true").Run()
	}
}

// TestWeDie: when we die without a word, the supervisor ends everything.
func TestWeDie(t *testing.T) {
	if os.Getenv("RUNNER_TEST_DIE") != "" {
		p := shell(t, fmt.Sprintf(escape, os.Getenv("RUNNER_TEST_DIE"))+`echo ready; sleep 100`)
		p.Live = func(string) { syscall.Kill(os.Getpid(), syscall.SIGKILL) }
		ran(t, p)
		return
	}
	if self() != "/proc/self/exe" {
		t.Skip("only Linux lets a process adopt orphans")
	}
	file := filepath.Join(t.TempDir(), "pid")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestWeDie$")
	cmd.Env = append(os.Environ(), "RUNNER_TEST_DIE="+file)
	cmd.ExtraFiles = []*os.File{w}
	err = cmd.Run()
	w.Close()
	if err == nil {
		t.Fatal("it did not die")
	}
	r.Close()
	for i := 0; alive(t, file); i++ {
		if i == 5000 {
			t.Fatal("what was started lives on")
		}
		exec.Command("true").Run()
	}
}

// TestFlood: 200 MB of output do not block the program, do not fill memory, and are cut with a line that says so.
func TestFlood(t *testing.T) {
	p := shell(t, `yes 0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789 | head -c 200000000; echo done >&2; exit 5`)
	p.MaxOutput = 1_000_000
	o := ran(t, p)
	if o.Exit != 5 || !o.Truncated || o.Bytes != 200_000_005 || len(o.Stdout)+len(o.Stderr) != 1_000_000 {
		t.Errorf("exit %d, truncated %v, %d bytes, kept %d", o.Exit, o.Truncated, o.Bytes, len(o.Stdout)+len(o.Stderr))
	}
	if last := o.Lines[len(o.Lines)-1]; last != TruncatedLine {
		t.Errorf("the last line is %q", last)
	}
}

// TestOddOutput: bytes that are no UTF-8, very long lines and lines without end come through, in pieces where they must.
func TestOddOutput(t *testing.T) {
	long := strings.Repeat("x", 3*maxLine+17)
	p := shell(t, `printf 'a\377\0b\r\nend'; printf '%s' "$LONG" >&2`)
	p.Env = append(p.Env, "LONG="+long)
	o := ran(t, p)
	if string(o.Stdout) != "a\xff\x00b\r\nend" || string(o.Stderr) != long {
		t.Errorf("stdout %q, %d bytes on stderr", o.Stdout, len(o.Stderr))
	}
	all := strings.Join(o.Lines, "\n")
	if !strings.Contains(all, "a\xff\x00b\n") || strings.Count(all, "x") != len(long) {
		t.Errorf("lines %.200q", all)
	}
}

// TestConfined: a confined program reads where it may, writes nowhere, and its limits hold.
func TestConfined(t *testing.T) {
	outside := t.TempDir()
	if err := os.WriteFile(outside+"/secret", []byte("secret\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p := shell(t, `cat inside; cat `+outside+`/secret; echo x >new; echo x >`+outside+`/new; cat /etc/shadow; exec 3</dev/null && echo null works`)
	if err := os.WriteFile(p.Dir+"/inside", []byte("inside\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p.Confine = Confinement{Reads: []exact{exact(p.Dir)}, Runs: []exact{"/usr", "/bin", "/lib", "/lib64"}, CPU: 5, OpenFiles: 64}
	o := ran(t, p)
	if !strings.HasPrefix(o.Confined, "Landlock") {
		t.Skip("no Landlock here: " + o.Confined)
	}
	if got := string(o.Stdout); got != "inside\nnull works\n" {
		t.Errorf("stdout %q, stderr %q", got, o.Stderr)
	}
	for _, name := range []string{p.Dir + "/new", outside + "/new"} {
		if _, err := os.Stat(name); err == nil {
			t.Error(name, "was written")
		}
	}
	p = shell(t, `echo x >in-the-tree; echo x >`+outside+`/new; cat `+outside+`/secret; mkdir d; mv in-the-tree d`)
	p.Confine = Confinement{ReadsAll: true, Writes: []exact{exact(p.Dir)}}
	o = ran(t, p)
	if _, err := os.Stat(p.Dir + "/d/in-the-tree"); err != nil || string(o.Stdout) != "secret\n" {
		t.Errorf("%v, stdout %q, stderr %q", err, o.Stdout, o.Stderr)
	}
	if _, err := os.Stat(outside + "/new"); err == nil {
		t.Error("it wrote outside")
	}
}

// TestNoTCP: a program without network can neither connect nor listen.
func TestNoTCP(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("needs bash, which can connect")
	}
	p := Program{Path: bash, Args: []string{"bash", "-c", `exec 3<>/dev/tcp/127.0.0.1/9`}, Dir: t.TempDir(), Timeout: time.Minute}
	p.Confine = Confinement{ReadsAll: true, NoTCP: true}
	o := ran(t, p)
	if !strings.HasSuffix(o.Confined, "no TCP") {
		t.Skip("this kernel cannot close the network: " + o.Confined)
	}
	if !bytes.Contains(o.Stderr, []byte("Permission denied")) {
		t.Errorf("stderr %q", o.Stderr)
	}
}

// TestMemoryLimit: the limit on memory holds.
func TestMemoryLimit(t *testing.T) {
	p := shell(t, `head -c 100000000 /dev/zero | tail -c 90000000 | wc -c`)
	p.Confine = Confinement{ReadsAll: true, Memory: 50 << 20}
	if o := ran(t, p); strings.TrimSpace(string(o.Stdout)) == "90000000" {
		t.Errorf("it had the memory: %+v", o)
	}
}
