/** Random programs, estimated in a real store, and each run again as a signed transaction by @ethereumjs/vm. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import type {Common} from "@ethereumjs/common";
import {EVMError} from "@ethereumjs/evm";
import {getCalldataFloorGas} from "@ethereumjs/tx";
import {
  bigIntToUnpaddedBytes,
  bytesToBigInt,
  eoaCode7702SignAuthorization,
  privateToAddress,
  setLengthLeft,
} from "@ethereumjs/util";
import {createVM, runTx} from "@ethereumjs/vm";
import fc from "fast-check";
import {quantity} from "../../client/bytes/hex.ts";
import {Evm} from "../../evm/interpreter/evm.ts";
import {finish} from "../../evm/interpreter/waits.ts";
import {toHex} from "../../storage/hex.ts";
import type {StateStore} from "../../storage/stateStore.ts";
import {ChainRules} from "../../workers/estimate/blockRules.ts";
import {Deadline} from "../../workers/estimate/call/deadline.ts";
import {EvmRuns} from "../../workers/estimate/call/evmRuns.ts";
import {Estimator} from "../../workers/estimate/estimator.ts";
import {CachedEvms} from "../../workers/estimate/state/cachedEvms.ts";
import {Turns} from "../../workers/estimate/turns.ts";
import type {Authorization, EstimateCall} from "../../workers/messages/estimateCall.ts";
import {CallFailure} from "../../workers/messages/failure.ts";
import type {DifferenceLine} from "../support/chains/differenceLine.ts";
import type {MemoryState} from "../support/chains/memoryState.ts";
import {createTransaction} from "../support/estimates/callAsTransaction.ts";
import {BLOCK_GAS_LIMIT, CHAIN_ID, EstimateStore, SETTINGS} from "../support/estimates/estimateStore.ts";
import {createCommon} from "../support/estimates/hardforks.ts";
import {packWords} from "../support/estimates/packedWords.ts";
import {PLAIN_ADDRESS, PROGRAM_ADDRESSES, randomProgram} from "../support/estimates/randomPrograms.ts";
import {createLibraryEvm, libraryBlock} from "../support/evm/libraryBlock.ts";
import {LibraryState} from "../support/evm/libraryState.ts";
import {addressOf, MINER, NAMED_ADDRESSES, randomState} from "../support/evm/randomState.ts";
import type {BlockFields} from "../support/evm/transactionOutcome.ts";
import {propertyRuns, sameExamples, sampleOf} from "../support/soak.ts";

const RUNS_PER_FORK = propertyRuns(5);
/** A run takes some milliseconds then. */
const GAS_CAP = 600_000;
/** Never reached: a busy machine is no failure here. */
const LIMIT_MS = 3_600_000;
const SENDER_KEY = new Uint8Array(32).fill(7);
const SENDER = privateToAddress(SENDER_KEY);
const OWNER_KEYS = [new Uint8Array(32).fill(8), new Uint8Array(32).fill(9)];
const HARDFORKS = sampleOf(["osaka", "prague", "cancun", "shanghai", "london", "berlin"], 2);
const MIX_HASH = new Uint8Array(32).fill(0x5a);

interface Case {
  readonly state: MemoryState;
  readonly call: EstimateCall;
}

/** What a run comes to. */
interface Outcome {
  readonly succeeds: boolean;
  readonly reverts: boolean;
  readonly spent: bigint;
  readonly returned: string;
}

/** Of all hard forks. */
const counts = {estimated: 0, failed: 0, reverted: 0, runs: 0, traced: 0, passes: 0};
let stores: readonly EstimateStore[];
let allShared: readonly StateStore[];

before(async () => {
  stores = await Promise.all(["sha256", "keccak"].map(suite => EstimateStore.create(suite)));
  allShared = await Promise.all(stores.map(store => store.share()));
});

after(async () => {
  for (const each of [...allShared, ...stores]) await each.close();
});

function sign(key: Uint8Array, chainId: bigint, target: bigint, nonce: bigint): Authorization {
  const numbers = [chainId, nonce].map(bigIntToUnpaddedBytes) as [Uint8Array, Uint8Array];
  const address = addressOf(target);
  const [, , , yParity, r, s] = eoaCode7702SignAuthorization([numbers[0], address, numbers[1]], key).map(
    bytes => bytesToBigInt(bytes as Uint8Array),
  ) as [bigint, bigint, bigint, bigint, bigint, bigint];
  return {chainId, address, nonce, yParity, r, s};
}

const accessList = fc.array(
  fc.record({
    address: fc.constantFrom(...PROGRAM_ADDRESSES, PLAIN_ADDRESS, 2n).map(addressOf),
    storageKeys: fc
      .array(
        fc.bigInt({min: 0n, max: 6n}).map(slot => setLengthLeft(bigIntToUnpaddedBytes(slot), 32)),
        {maxLength: 3},
      )
      .map(packWords),
  }),
  {maxLength: 3},
);
const authorizationList = fc.array(
  fc
    .record({
      key: fc.constantFrom(...OWNER_KEYS, SENDER_KEY),
      chainId: fc.constantFrom(0n, CHAIN_ID, CHAIN_ID, 5n),
      target: fc.constantFrom(...PROGRAM_ADDRESSES, 0n),
      nonce: fc.constantFrom(0n, 0n, 3n, 6n),
    })
    .map(({key, chainId, target, nonce}) => sign(key, chainId, target, nonce)),
  {minLength: 1, maxLength: 3},
);

const OWNER = toHex(privateToAddress(OWNER_KEYS[0] ?? assert.fail()));
/** The other owner of a key is an account that there is not. */
const PEOPLE = {[toHex(SENDER)]: {nonce: 5n, balance: 10n ** 19n}, [OWNER]: {nonce: 3n, balance: 1n}};

function cases(common: Common): fc.Arbitrary<Case> {
  const hardfork = common.hardfork();
  const initcode = randomProgram({hardfork, addresses: Object.keys(PEOPLE).map(BigInt)});
  const shape = {
    block: fc.constant(0),
    from: fc.constant<Uint8Array>(SENDER),
    value: fc.constantFrom(0n, 0n, 0n, 1n, 10n ** 18n),
    data: fc.uint8Array({maxLength: 60}),
    nonce: fc.constant(5n),
  };
  const receivers = fc.oneof(
    {weight: 10, arbitrary: fc.constantFrom(...PROGRAM_ADDRESSES)},
    fc.constantFrom(PLAIN_ADDRESS, 0xdead0000n, 4n),
    ...(common.isActivatedEIP(7702)
      ? [fc.constantFrom(...OWNER_KEYS).map(key => bytesToBigInt(privateToAddress(key)))]
      : []),
  );
  const to = receivers.map(addressOf);
  const gas = fc.option(fc.bigInt({min: 21_000n, max: BigInt(GAS_CAP)}), {nil: undefined, freq: 3});
  const legacy = fc.record({...shape, to, type: fc.constant(0 as const), gasPrice: fc.constant(10n)});
  const calls: fc.MaybeWeightedArbitrary<EstimateCall>[] = [
    {weight: 5, arbitrary: legacy},
    {
      weight: 2,
      // A creation by one of the programs as initcode.
      arbitrary: fc.record({
        ...shape,
        data: initcode,
        type: fc.constant(0 as const),
        gasPrice: fc.constant(10n),
      }),
    },
  ];
  const fees = {maxFeePerGas: fc.constant(20n), maxPriorityFeePerGas: fc.constant(3n)};
  if (common.isActivatedEIP(2930))
    calls.push({
      weight: 2,
      arbitrary: fc.record({
        ...shape,
        to,
        type: fc.constant(1 as const),
        gasPrice: fc.constant(9n),
        accessList,
      }),
    });
  if (common.isActivatedEIP(1559))
    calls.push({
      weight: 2,
      arbitrary: fc.record({...shape, ...fees, to, type: fc.constant(2 as const), accessList}),
    });
  if (common.isActivatedEIP(7702))
    calls.push({
      weight: 4,
      arbitrary: fc.record({...shape, ...fees, to, type: fc.constant(4 as const), authorizationList}),
    });
  return fc.record({
    state: randomState(hardfork, PEOPLE),
    call: fc.tuple(fc.oneof(...calls), gas).map(([call, gas]) => (gas === undefined ? call : {...call, gas})),
  });
}

/** Of all that a case may have, as a line of differences. */
function differencesOf({accounts}: MemoryState): DifferenceLine["accounts"] {
  const absent = NAMED_ADDRESSES.map(address => [toHex(address), null] as const);
  const held = [...accounts].map(([name, {nonce, balance, code, slots}]) => {
    const fields = {nonce: quantity(nonce), balance: quantity(balance), code: toHex(code)};
    return [name, {...fields, storage: Object.fromEntries(slots), reset: true}] as const;
  });
  return Object.fromEntries([...absent, ...held]);
}

/** The same accounts under @ethereumjs/vm, which executes the call as a transaction in a block of its own. */
class Reference {
  private readonly block: BlockFields;

  constructor(
    private readonly common: Common,
    private readonly state: MemoryState,
    number: number,
    {reader}: StateStore,
  ) {
    this.block = {
      ...{
        number: BigInt(number),
        timestamp: BigInt(1_700_000_000 + number),
        gasLimit: BigInt(BLOCK_GAS_LIMIT),
      },
      ...{coinbase: MINER, difficulty: 0n, random: MIX_HASH},
      baseFee: common.isActivatedEIP(1559) ? 7n : undefined,
      excessBlobGas: common.isActivatedEIP(4844) ? 0n : undefined,
      blockHash: at => reader.blockHashOrThrow(at),
    };
  }

  async run(call: EstimateCall, gasLimit: bigint): Promise<Outcome> {
    const {common} = this;
    const evm = await createLibraryEvm(common, new LibraryState(this.state), this.block);
    const vm = await createVM({common, evm, stateManager: evm.stateManager, blockchain: evm.blockchain});
    const tx = createTransaction(call, common, gasLimit).sign(SENDER_KEY);
    try {
      const block = libraryBlock(common, this.block);
      const {execResult} = await runTx(vm, {tx, block, skipHardForkValidation: true});
      const executed = execResult.executionGasUsed + tx.getIntrinsicGas();
      const floor = common.isActivatedEIP(7623) ? getCalldataFloorGas(tx) : 0n;
      return {
        succeeds: execResult.exceptionError === undefined,
        reverts: execResult.exceptionError?.error === EVMError.errorMessages.REVERT,
        spent: executed > floor ? executed : floor,
        returned: Buffer.from(execResult.returnValue).toString("hex"),
      };
    } catch (error) {
      assert.match(String(error), /INTRINSIC_GAS_TOO_LOW/);
      return {succeeds: false, reverts: false, spent: gasLimit, returned: ""};
    }
  }
}

/** Turns of some steps each. */
class ShortTurns extends Turns {
  passes = 0;

  override isOver(): boolean {
    return true;
  }

  override pass(): Promise<void> {
    this.passes++;
    return super.pass();
  }

  async of<T>(steps: number, work: () => Promise<T>): Promise<T> {
    const {resume} = Evm.prototype;
    Evm.prototype.resume = function (atOnce) {
      return resume.call(this, Math.min(atOnce, steps));
    };
    try {
      return await work();
    } finally {
      Evm.prototype.resume = resume;
    }
  }
}

for (const [at, hardfork] of HARDFORKS.entries())
  test(`under ${hardfork} every estimate is enough, and every run is what @ethereumjs/vm makes of it`, async () => {
    const store = stores[at % 2] ?? assert.fail();
    const shared = allShared[at % 2] ?? assert.fail();
    const settings = {...SETTINGS, hardfork, gasCap: GAS_CAP, timeMs: LIMIT_MS, gasTolerance: 0};
    const estimator = new Estimator(shared.reader, settings, CHAIN_ID);
    const turns = new ShortTurns();
    const pair = [1, 2].map(() => new Estimator(shared.reader, settings, CHAIN_ID, turns));
    const deadline = new Deadline(LIMIT_MS);
    const {reader} = shared;
    const chain = new ChainRules({store: reader, hardfork, chainId: CHAIN_ID, gasCap: BigInt(GAS_CAP)});
    const common = createCommon(hardfork, CHAIN_ID);
    const inputs = [cases(common), fc.bigInt({min: 1n, max: 999n}), fc.integer({min: 10, max: 500})] as const;
    await fc.assert(
      fc.asyncProperty(...inputs, async (one, part, steps) => {
        const accounts = differencesOf(one.state);
        const block = {accounts, miner: toHex(MINER), mixHash: toHex(MIX_HASH)};
        const number = await store.addBlock(block);
        const call: EstimateCall = {...one.call, block: number};
        const reference = new Reference(common, one.state, number, shared);
        const upper = call.gas ?? BigInt(GAS_CAP);
        let limit = upper;
        const whole = await Promise.allSettled([estimator.estimate(call)]);
        const inTurns = await turns.of(steps, () =>
          Promise.allSettled(pair.map(each => turns.take(() => each.estimate(call)))),
        );
        assert.deepEqual(inTurns, [...whole, ...whole]);
        try {
          const estimate = await estimator.estimate(call);
          limit = estimate.gasLimit;
          counts.estimated++;
          counts.runs += estimate.runs;
          assert.ok(limit <= upper);
          assert.equal((await reference.run(call, limit)).succeeds, true, `fails with ${limit}`);
        } catch (error) {
          if (!(error instanceof CallFailure)) throw error;
          counts.failed++;
          const {failure} = error;
          const outcome = await reference.run(call, upper);
          assert.equal(outcome.succeeds, false, failure.detail);
          // A call that its own gas ends before it reverts is told of the revert all the same.
          const last = outcome.reverts ? outcome : await reference.run(call, BigInt(GAS_CAP));
          assert.equal(failure.failure, last.reverts ? "REVERTED" : "EXECUTION_FAILED", failure.detail);
          if (failure.failure === "REVERTED") {
            counts.reverted++;
            assert.equal(last.returned, failure.data.slice(2));
          }
        }
        deadline.start();
        const record = reader.blockOrThrow(number);
        const rules = chain.at(record);
        const price = call.gasPrice ?? 10n;
        const evm = new CachedEvms(reader, deadline).at(record);
        evm.setBlock(rules.evmRules, rules.evmBlock);
        const runs = new EvmRuns(call, evm, rules, price, deadline);
        for (const gasLimit of [upper, limit, limit - 1n, (upper * part) / 1000n]) {
          const {failure, spent, returned} = await finish(runs.run(gasLimit));
          const outcome = await reference.run(call, gasLimit);
          assert.equal(failure === undefined, outcome.succeeds, `at ${gasLimit}: ${failure?.reason}`);
          if (failure?.kind === "intrinsic") continue;
          assert.equal(spent, outcome.spent, `at ${gasLimit}`);
          // What a creation returns is its code. Ours gives it only to the account.
          if (call.to !== undefined || !outcome.succeeds)
            assert.equal(Buffer.from(returned).toString("hex"), outcome.returned);
        }
        const {least, isBounded} = await finish(runs.run(upper));
        if (least === undefined || (isBounded === true && limit < least)) return;
        counts.traced++;
        assert.equal(limit, least);
        assert.equal((await reference.run(call, least - 1n)).succeeds, false, `${least} is not the least`);
      }),
      {numRuns: RUNS_PER_FORK, examples: sameExamples(fc.tuple(...inputs), 2)},
    );
    counts.passes += turns.passes;
  });

test("of the random programs, some succeed and some fail", t => {
  t.diagnostic(JSON.stringify(counts));
  const runs = HARDFORKS.length * RUNS_PER_FORK;
  assert.ok(counts.estimated >= runs / 20 && counts.failed >= runs / 20);
  assert.ok(counts.passes > 0, "none passed its turn");
});
