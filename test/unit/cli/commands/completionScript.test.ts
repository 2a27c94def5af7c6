/** The scripts of `proofd completion`, in the shells that read them. */
import assert from "node:assert/strict";
import {type TestContext, test} from "node:test";
import {SHELLS, writeCompletion} from "../../../../cli/commands/completionScript.ts";
import {createProgram} from "../../../../cli/program.ts";
import {STORE_SUITE_NAMES} from "../../../../storage/hash/suiteNames.ts";
import {runChild} from "../../../support/processes/childProcesses.ts";
import {findProgram} from "../../../support/processes/foundProgram.ts";
import {notRun} from "../../../support/processes/notRun.ts";

/** A line that a user has begun, and the words that the shell offers for its end. */
const CASES: readonly (readonly [string, readonly string[]])[] = [
  ["proofd ser", ["serve"]],
  ["proofd serve --cache", ["--cache-mb"]],
  ["proofd serve --cache-mb 7 --suite ", STORE_SUITE_NAMES],
  ["proofd serve --demo --gat", ["--gateway"]],
  ["proofd load --css", []],
  ["proofd completion ", SHELLS],
];

/** @param ask - a command that offers words for the line in $LINE, one on each line, with or without a description */
async function completes(t: TestContext, shell: "bash" | "fish", ask: string): Promise<void> {
  const program = findProgram(shell);
  if (program === undefined) return notRun(t, `no ${shell} in PATH`);
  const script = writeCompletion(
    createProgram(() => {}),
    shell,
  );
  const asked = CASES.map(([line]) => ask.replace("$LINE", line)).join("\necho ==\n");
  const {stdout, stderr} = await runChild(program, ["-c", `${script}\n${asked}`]);
  assert.equal(stderr, "");
  const offered = stdout
    .split("==\n")
    .map(text => text.split("\n").flatMap(line => line.split("\t")[0] || []));
  assert.deepEqual(
    offered.map(words => words.sort()),
    CASES.map(([, words]) => [...words].sort()),
  );
}

test("bash completes commands, flags and words of flags", t =>
  completes(
    t,
    "bash",
    `line="$LINE"
COMP_WORDS=($line)
if [ "\${line% }" != "$line" ]; then COMP_WORDS+=(""); fi
COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
_proofd proofd "\${COMP_WORDS[COMP_CWORD]}" "\${COMP_WORDS[COMP_CWORD - 1]}"
printf "%s\\n" "\${COMPREPLY[@]}"`,
  ));

test("fish completes commands, flags and words of flags", t => completes(t, "fish", `complete -C "$LINE"`));
