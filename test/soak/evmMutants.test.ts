/** Each number of the interpreter's rules (workers/evm/rules.ts), changed by one: a case of the gas tests must notice. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {type EvmRules, rulesOf} from "../../workers/evm/rules.ts";
import {EvmKit} from "../support/evm/evmKit.ts";
import {GAS_CASES} from "../support/evm/gasCases/allCases.ts";
import {FORKS} from "../support/evm/randomState.ts";

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
  for (const [param, value] of Object.entries(rules.params))
    for (const changed of FLAGS.has(param) ? [1 - value] : [value - 1, value + 1])
      if (changed >= 0)
        yield {
          name: `${fork}: ${param} ${value} -> ${changed}`,
          rules: {...rules, params: {...rules.params, [param]: changed}},
        };
}

/**
 * The room that an opcode needs on the stack. Words left count only in it, and where less is asked for, the next opcode fails in
 * its place.
 */
function growth([, , takes, gives]: NonNullable<EvmRules["opcodes"][number]>): number {
  return Math.max(0, gives - takes);
}

function isNoticed(kit: EvmKit, likely: string | undefined): boolean {
  const first = GAS_CASES.filter(({title}) => likely !== undefined && title.startsWith(likely));
  for (const {since = "berlin", check} of [...first, ...GAS_CASES])
    try {
      if (kit.has(since)) check(kit);
    } catch {
      return true;
    }
  return false;
}

for (const fork of FORKS)
  test(`every number of ${fork}'s rules, changed by one, is noticed`, t => {
    const mutants = [...mutantsOf(fork)];
    t.diagnostic(`${mutants.length} mutants`);
    const survivors = mutants.filter(({rules, likely}) => !isNoticed(new EvmKit(fork, rules), likely));
    assert.deepEqual(
      survivors.map(({name}) => name),
      [],
    );
  });
