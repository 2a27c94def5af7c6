/** Each number of the interpreter's rules (evm/interpreter/rules.ts), changed by one: the tables or a published test must notice. */
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {join} from "node:path";
import {test} from "node:test";
import type {JsonObject} from "../../evm/execution/gethJson.ts";
import {type EvmRules, rulesOf} from "../../evm/interpreter/rules.ts";
import {WorkFolder} from "../support/chains/serviceChain.ts";
import {EvmKit} from "../support/evm/evmKit.ts";
import {runByInterpreter} from "../support/evm/interpreterTransaction.ts";
import {OPCODE_CASES} from "../support/evm/opcodeCases.ts";
import {PARAM_CASES} from "../support/evm/paramCases.ts";
import {FORKS} from "../support/evm/randomState.ts";
import {notRun} from "../support/processes/notRun.ts";
import {unpackTests} from "../support/stateTests/publishedTests.ts";
import {type Execute, runStateTest} from "../support/stateTests/stateTest.ts";
import {findTests} from "../support/stateTests/tally.ts";

const CASES = [...OPCODE_CASES, ...PARAM_CASES];

interface Mutant {
  readonly name: string;
  readonly rules: EvmRules;
  /** How the title of the case begins that is likely to notice. It is tried first. */
  readonly likely?: string;
}

const FIELDS = ["its number", "gas", "words taken", "words left"];
const LEFT = 3;
/** These are 0 or 1. */
const FLAGS = new Set(["hasP256", "refusesEf", "destroysOnlyNew", "hasDelegations"]);

function* mutantsOf(fork: string): Generator<Mutant> {
  const rules = rulesOf(fork);
  assert.ok(rules);
  for (const [code, opcode] of rules.opcodes.entries()) {
    const opcodeName = `opcode 0x${code.toString(16)} `;
    const name = `${fork}: ${opcodeName}`;
    const mutate = (changed: EvmRules["opcodes"][number]) => ({
      ...rules,
      opcodes: rules.opcodes.with(code, changed),
    });
    if (opcode === undefined) {
      // What no fork has is invalid in the interpreter too, whatever the table says.
      const later = rulesOf("osaka")?.opcodes[code];
      if (later !== undefined) yield {name: `${name}exists`, rules: mutate(later), likely: opcodeName};
      continue;
    }
    yield {name: `${name}is missing`, rules: mutate(undefined), likely: opcodeName};
    for (const field of [1, 2, 3])
      for (const step of [1, -1]) {
        const changed = opcode.with(field, (opcode[field] as number) + step) as unknown as typeof opcode;
        const isOther = field !== LEFT || growth(changed) > growth(opcode);
        if ((changed[field] as number) >= 0 && isOther)
          yield {
            name: `${name}${FIELDS[field]} ${opcode[field]} -> ${changed[field]}`,
            rules: mutate(changed),
            likely: opcodeName,
          };
      }
  }
}

/**
 * The room that an opcode needs on the stack. Words left count only in it, and where less is asked for, the next opcode fails in
 * its place.
 */
function growth([, , takes, gives]: NonNullable<EvmRules["opcodes"][number]>): number {
  return Math.max(0, gives - takes);
}

function isNoticed(kit: EvmKit, likely: string | undefined): boolean {
  const first = CASES.filter(({title}) => likely !== undefined && title.startsWith(likely));
  for (const {since = "berlin", check} of [...first, ...CASES])
    try {
      if (kit.has(since)) check(kit);
    } catch {
      return true;
    }
  return false;
}

for (const fork of FORKS)
  test(`every number of ${fork}'s opcodes, changed by one, is noticed`, t => {
    const mutants = [...mutantsOf(fork)];
    t.diagnostic(`${mutants.length} mutants`);
    const survivors = mutants.filter(({rules, likely}) => !isNoticed(new EvmKit(fork, rules), likely));
    assert.deepEqual(
      survivors.map(({name}) => name),
      [],
    );
  });

/** Runs of forks with the same value, under the newest of which most is tested. */
function* spansOf(param: string): Generator<{readonly value: number; readonly forks: string[]}> {
  let last: {value: number; forks: string[]} | undefined;
  for (const fork of FORKS) {
    const value = paramsOf(fork)[param] as number;
    if (last?.value === value) last.forks.unshift(fork);
    else {
      if (last !== undefined) yield last;
      last = {value, forks: [fork]};
    }
  }
  if (last !== undefined) yield last;
}

function paramsOf(fork: string): Readonly<Record<string, number>> {
  return {...rulesOf(fork)?.params};
}

function changedRules(fork: string, param: string, value: number): EvmRules {
  const rules = rulesOf(fork) as EvmRules;
  return {...rules, params: {...rules.params, [param]: value}};
}

/** Published state tests of forks. What has noticed a change comes first. */
class StateTests {
  private readonly tests: {readonly file: string; readonly test: JsonObject; notices: number}[] = [];

  constructor(folder: string) {
    for (const file of findTests(folder))
      for (const test of Object.values(JSON.parse(readFileSync(join(folder, file), "utf8")) as JsonObject))
        this.tests.push({file, test: test as JsonObject, notices: 0});
  }

  async notice(fork: string, rules: EvmRules): Promise<boolean> {
    const network = `${fork.charAt(0).toUpperCase()}${fork.slice(1)}`;
    for (const one of this.tests.toSorted((a, b) => b.notices - a.notices)) {
      const cases = (one.test.post as JsonObject)[network];
      if (cases === undefined) continue;
      const execute: Execute = (...args) => runByInterpreter(...args, rules);
      for await (const {verdict} of runStateTest({...one.test, post: {[network]: cases}}, execute))
        if (verdict !== undefined && "failure" in verdict) {
          one.notices++;
          return true;
        }
    }
    return false;
  }
}

test("every other number of the rules, changed by one, is noticed by the tables or by a published test", async t => {
  const folder = await WorkFolder.create();
  t.after(() => folder.remove());
  const lack = await unpackTests(folder.path);
  if (lack !== undefined) return notRun(t, lack);
  const published = new StateTests(folder.file("state_tests"));
  const survivors: string[] = [];
  for (const param of Object.keys(paramsOf("osaka")))
    for (const {value, forks} of spansOf(param))
      for (const changed of FLAGS.has(param) ? [1 - value] : [value - 1, value + 1]) {
        if (changed < 0) continue;
        let isSeen = forks.some(fork =>
          isNoticed(new EvmKit(fork, changedRules(fork, param, changed)), undefined),
        );
        for (const fork of forks) isSeen ||= await published.notice(fork, changedRules(fork, param, changed));
        if (!isSeen) survivors.push(`${forks.at(-1)}: ${param} ${value} -> ${changed}`);
      }
  assert.deepEqual(survivors, []);
});
