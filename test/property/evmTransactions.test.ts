/** Random signed transactions on random states: the interpreter, by the rules of `import`, against the library. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {createTx} from "@ethereumjs/tx";
import {
  bigIntToUnpaddedBytes,
  eoaCode7702SignAuthorization,
  type PrefixedHexString,
  privateToAddress,
} from "@ethereumjs/util";
import fc from "fast-check";
import {toHex} from "../../storage/hex.ts";
import {PLAIN_ADDRESS, PROGRAM_ADDRESSES, randomProgram} from "../support/estimates/randomPrograms.ts";
import {type ChainFork, chainFork} from "../support/evm/chainFork.ts";
import {runByInterpreter} from "../support/evm/interpreterTransaction.ts";
import {runByLibrary} from "../support/evm/libraryTransaction.ts";
import {addressOf, blockUnder, FORKS, NAMED_ADDRESSES, randomState} from "../support/evm/randomState.ts";
import {type Outcome, plainAccounts} from "../support/evm/transactionOutcome.ts";
import {propertyRuns} from "../support/soak.ts";

const KEYS = [7, 8, 9].map(byte => new Uint8Array(32).fill(byte));
const PEOPLE = KEYS.map(key => toHex(privateToAddress(key)));
const TYPE_EIPS = [0, 2930, 1559, 4844, 7702];
const [BLOBS, DELEGATION] = [3, 4];

const named = fc
  .constantFrom(...NAMED_ADDRESSES, ...[...PROGRAM_ADDRESSES, PLAIN_ADDRESS, 4n].map(addressOf))
  .map(address => toHex(address) as PrefixedHexString);
const to = fc.oneof(
  {weight: 6, arbitrary: fc.constantFrom(...PROGRAM_ADDRESSES).map(value => toHex(addressOf(value)))},
  named,
  fc.constantFrom(...PEOPLE),
  fc.constant(undefined),
);
const slot = fc
  .integer({min: 0, max: 5})
  .map(value => `0x${value.toString(16).padStart(64, "0")}` as PrefixedHexString);
const authorization = fc
  .record({
    key: fc.constantFrom(...KEYS),
    chainId: fc.constantFrom(0n, 1n, 1n, 5n),
    target: fc.constantFrom(...PROGRAM_ADDRESSES, 0n, 4n),
    nonce: fc.constantFrom(0n, 5n, 6n, 2n ** 64n - 1n),
  })
  .map(({key, chainId, target, nonce}) =>
    eoaCode7702SignAuthorization(
      [bigIntToUnpaddedBytes(chainId), addressOf(target), bigIntToUnpaddedBytes(nonce)].map(bytes =>
        bytes.length === 1 && bytes[0] === 0 ? new Uint8Array(0) : bytes,
      ) as never,
      key,
    ),
  );

const parts = {
  from: fc.constantFrom(0, 0, 0, 0, 1, 1, 1, 1, 2),
  to,
  data: fc.uint8Array({maxLength: 300}),
  value: fc.constantFrom(0n, 0n, 0n, 0n, 1n, 1n, 10n ** 18n, 10n ** 18n, 10n ** 20n),
  gasLimit: fc.oneof(
    {weight: 6, arbitrary: fc.bigInt({min: 60_000n, max: 1_500_000n})},
    fc.bigInt({min: 30_000n, max: 60_000n}),
    fc.constantFrom(20_999n, 2n ** 24n),
  ),
  fee: fc.constantFrom(7n, 7n, 7n, 8n, 8n, 8n, 1000n, 1000n, 6n),
  tip: fc.constantFrom(0n, 1n, 5n),
  nonceAhead: fc.constantFrom(0n, 0n, 0n, 0n, 0n, 0n, 0n, 0n, 0n, 1n),
  accessList: fc.array(fc.record({address: named, storageKeys: fc.array(slot, {maxLength: 3})}), {
    maxLength: 3,
  }),
  blobs: fc.integer({min: 1, max: 6}),
  blobFee: fc.constantFrom(1n, 100n),
  authorizationList: fc.array(authorization, {minLength: 1, maxLength: 3}),
};

type Parts = {
  readonly [Name in keyof typeof parts]: (typeof parts)[Name] extends fc.Arbitrary<infer T> ? T : never;
};

/** States and RLP of transactions. */
function transactionsUnder(fork: ChainFork) {
  const {common, name} = fork;
  const types = TYPE_EIPS.flatMap((eip, type) => (eip === 0 || common.isActivatedEIP(eip) ? [type] : []));
  const people = PEOPLE.map((address, at) => [address, {nonce: 5n, balance: at === 2 ? 0n : 10n ** 19n}]);
  const initcode = randomProgram({hardfork: name, addresses: PEOPLE.map(BigInt)});
  return fc.record({
    state: randomState(name, Object.fromEntries(people.slice(0, 2))),
    transaction: fc
      .tuple(fc.constantFrom(...types), fc.record(parts), initcode)
      .map(([type, fields, code]) => encode(fork, type, fields, code)),
  });
}

function encode({common}: ChainFork, type: number, fields: Parts, initcode: Uint8Array): Uint8Array {
  const {from, to, data, value, gasLimit, fee, tip, nonceAhead, accessList, blobs, blobFee} = fields;
  const receiver = type >= BLOBS ? (to ?? PEOPLE[0]) : to;
  const transaction = {
    type,
    chainId: 1n,
    nonce: 5n + nonceAhead,
    gasLimit,
    value,
    data: receiver === undefined ? initcode : data,
    ...(receiver !== undefined && {to: receiver}),
    ...(type < 2 ? {gasPrice: fee} : {maxFeePerGas: fee + tip, maxPriorityFeePerGas: tip}),
    ...(type > 0 && {accessList}),
    ...(type === BLOBS && {
      maxFeePerBlobGas: blobFee,
      blobVersionedHashes: Array.from({length: blobs}, (_, at) => `0x01${`${at}`.padStart(62, "0")}`),
    }),
    ...(type === DELEGATION && {authorizationList: fields.authorizationList}),
  };
  return createTx(transaction as never, {common, allowUnlimitedInitCodeSize: true})
    .sign(KEYS[from] as Uint8Array)
    .serialize();
}

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
