/** Random signed transactions on random states: the interpreter, by the rules of `import`, against the library. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {chainFork} from "../support/evm/chainFork.ts";
import {runByInterpreter} from "../support/evm/interpreterTransaction.ts";
import {runByLibrary} from "../support/evm/libraryTransaction.ts";
import {blockUnder, FORKS} from "../support/evm/randomState.ts";
import {transactionsUnder} from "../support/evm/randomTransaction.ts";
import {type Outcome, plainAccounts} from "../support/evm/transactionOutcome.ts";
import {propertyRuns} from "../support/soak.ts";

const RUNS_PER_FORK = propertyRuns(15);
const counts = {refused: 0, failed: 0, succeeded: 0};

function plain(outcome: Outcome): object {
  return outcome.refused === undefined
    ? {...outcome, state: plainAccounts(outcome.state)}
    : {isRefused: true};
}

for (const hardfork of FORKS)
  test(`under ${hardfork} transactions change the same, cost the same and log the same as in the library`, async () => {
    const [fork, block] = [chainFork(hardfork), blockUnder(hardfork)];
    await fc.assert(
      fc.asyncProperty(transactionsUnder(fork), async ({state, transaction}) => {
        const expected = await runByLibrary(fork, state, block, transaction);
        const got = await runByInterpreter(fork, state, block, transaction);
        assert.deepEqual(plain(got), plain(expected), `${expected.refused} / ${got.refused}`);
        counts[got.refused !== undefined ? "refused" : got.succeeds ? "succeeded" : "failed"]++;
      }),
      {numRuns: RUNS_PER_FORK},
    );
  });

test("of the random transactions, some are refused, some fail and some succeed", t => {
  t.diagnostic(JSON.stringify(counts));
  assert.ok(Object.values(counts).every(count => count > 0));
});
