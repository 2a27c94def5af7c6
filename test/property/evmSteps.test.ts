/**
 * Random programs in the interpreter, opcode by opcode beside the library: position, gas, stack, memory and refund before each
 * opcode, and everything that is left at the end.
 */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import type {EvmMessage} from "../../evm/interpreter/message.ts";
import {toHex} from "../../storage/hex.ts";
import {PLAIN_ADDRESS, PROGRAM_ADDRESSES, randomProgram} from "../support/estimates/randomPrograms.ts";
import {chainFork} from "../support/evm/chainFork.ts";
import {compareSteps, type LockstepCase} from "../support/evm/lockstep.ts";
import {addressOf, blockUnder, FORKS, NAMED_ADDRESSES, randomState} from "../support/evm/randomState.ts";
import {propertyRuns} from "../support/soak.ts";

const SENDER = addressOf(0x5e4de4n);
const PEOPLE = {[toHex(SENDER)]: {nonce: 6n, balance: 10n ** 19n}};
const PROGRAMS = fc.constantFrom(...PROGRAM_ADDRESSES.map(addressOf));

const named = fc.constantFrom(...NAMED_ADDRESSES, addressOf(PLAIN_ADDRESS), addressOf(4n));
const slot = fc
  .integer({min: 0, max: 6})
  .map(last => Uint8Array.from({length: 32}, (_, at) => (at === 31 ? last : 0)));

/** Most calls go to a program. One in seven messages is a creation by a program as initcode. */
function casesUnder(hardfork: string): fc.Arbitrary<Omit<LockstepCase, "fork" | "block">> {
  const shape = {
    origin: fc.constant(SENDER),
    caller: fc.constant(SENDER),
    value: fc.constantFrom(0n, 0n, 1n, 10n ** 18n),
    gas: fc.oneof(fc.bigInt({min: 0n, max: 5000n}), {
      weight: 5,
      arbitrary: fc.bigInt({min: 0n, max: 2_000_000n}),
    }),
    gasPrice: fc.constant(11n),
    blobHashes: fc.constantFrom([], [new Uint8Array(32).fill(1)]),
    nonce: fc.constant(5n),
  };
  const to = fc.oneof({weight: 9, arbitrary: PROGRAMS}, named);
  const call = fc.record({...shape, to, data: fc.uint8Array({maxLength: 100})});
  const code = randomProgram({hardfork, addresses: NAMED_ADDRESSES.map(address => BigInt(toHex(address)))});
  const creation = fc.record({...shape, to: fc.constant(undefined), data: code});
  return fc.record({
    state: randomState(hardfork, PEOPLE),
    message: fc.oneof<fc.MaybeWeightedArbitrary<EvmMessage>[]>({weight: 6, arbitrary: call}, creation),
    warmAddresses: fc.array(fc.oneof(PROGRAMS, named), {maxLength: 3}),
    warmSlots: fc.array(fc.tuple(fc.oneof(PROGRAMS, named), slot), {maxLength: 3}),
  });
}

const RUNS_PER_FORK = propertyRuns(4);
const counts = {steps: 0, success: 0, revert: 0, failure: 0};

for (const hardfork of FORKS)
  test(`under ${hardfork} the interpreter is where the library is before every opcode`, async () => {
    const [fork, block] = [chainFork(hardfork), blockUnder(hardfork)];
    await fc.assert(
      fc.asyncProperty(casesUnder(hardfork), async one => {
        const {steps, end} = await compareSteps({...one, fork, block});
        counts.steps += steps;
        counts[end]++;
      }),
      {numRuns: RUNS_PER_FORK},
    );
  });

test("of the random programs, some succeed and some fail", t => {
  t.diagnostic(JSON.stringify(counts));
  assert.ok(counts.success > 0 && counts.failure > 0);
  assert.ok(counts.steps > FORKS.length * RUNS_PER_FORK);
});
