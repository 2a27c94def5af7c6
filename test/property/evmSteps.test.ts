/**
 * Random programs in the interpreter, opcode by opcode beside the library: position, gas, stack, memory and refund before each
 * opcode, and everything that is left at the end.
 */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {chainFork} from "../support/evm/chainFork.ts";
import {compareSteps} from "../support/evm/lockstep.ts";
import {casesUnder} from "../support/evm/randomMessage.ts";
import {blockUnder, FORKS} from "../support/evm/randomState.ts";
import {propertyRuns} from "../support/soak.ts";

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
