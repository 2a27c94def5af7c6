/**
 * Random programs in the interpreter, opcode by opcode beside the library: position, gas, stack, memory and refund before each
 * opcode, and everything that is left at the end.
 */
import assert from "node:assert/strict";
import {test} from "node:test";
import type {EVM, EVMResult, InterpreterStep} from "@ethereumjs/evm";
import {Address} from "@ethereumjs/util";
import fc from "fast-check";
import type {Evm} from "../../evm/interpreter/evm.ts";
import type {EvmMessage} from "../../evm/interpreter/message.ts";
import {toHex} from "../../storage/hex.ts";
import type {MemoryState} from "../support/chains/memoryState.ts";
import {PLAIN_ADDRESS, PROGRAM_ADDRESSES, randomProgram} from "../support/estimates/randomPrograms.ts";
import {type ChainFork, chainFork} from "../support/evm/chainFork.ts";
import {InterpreterState} from "../support/evm/interpreterState.ts";
import {evmUnder, setUp} from "../support/evm/interpreterTransaction.ts";
import {createLibraryEvm, libraryBlock} from "../support/evm/libraryBlock.ts";
import {LibraryState} from "../support/evm/libraryState.ts";
import {addressOf, blockUnder, FORKS, NAMED_ADDRESSES, randomState} from "../support/evm/randomState.ts";
import {type BlockFields, plainAccounts, plainLog} from "../support/evm/transactionOutcome.ts";
import {propertyRuns} from "../support/soak.ts";

interface EvmStep {
  readonly pc: number;
  readonly opcode: number;
  /** 0: the frame of the message. */
  readonly depth: number;
  readonly gasLeft: bigint;
  /** The lowest word first. */
  readonly stack: readonly bigint[];
  readonly memory: Uint8Array;
  readonly refund: bigint;
}

/** @param first - `currentFrame` where the message began. Frames lie one after the other */
function readStep({instance, refund}: Evm, first: number): EvmStep {
  const {exports} = instance;
  const frame = exports.currentFrame.value;
  const field = (offset: {readonly value: number}) => instance.readU32(frame + offset.value);
  const ip = field(exports.IP);
  const base = field(exports.STACK_BASE);
  const memory = field(exports.MEMORY);
  const stack: bigint[] = [];
  for (let at = base; at < field(exports.SP); at += 32) stack.push(instance.readWord(at));
  return {
    pc: ip - field(exports.CODE),
    opcode: instance.bytes[ip] ?? 0,
    depth: (frame - first) / FRAME_BYTES,
    gasLeft: instance.readU64(frame + exports.GAS.value),
    stack,
    memory: instance.bytes.slice(memory, memory + field(exports.MEMORY_BYTES)),
    refund,
  };
}

/** Of wasm/frames.ts. */
const FRAME_BYTES = 192;

const STOP = 0x00;
const SSTORE = 0x55;
const REVERT = 0xfd;
/** Larger memories are compared before one opcode in so many. */
const WHOLE_MEMORY_BYTES = 512;
const STEPS_PER_MEMORY = 61;

interface LockstepCase {
  readonly fork: ChainFork;
  readonly state: MemoryState;
  readonly block: BlockFields;
  readonly message: EvmMessage;
  readonly warmAddresses: readonly Uint8Array[];
  readonly warmSlots: readonly (readonly [address: Uint8Array, slot: Uint8Array])[];
}

/** What both come to. */
interface Ending {
  readonly end: "success" | "revert" | "failure";
  readonly gasLeft: bigint;
  readonly returned: string;
  readonly created: string | undefined;
  readonly refund: bigint;
  readonly logs: readonly unknown[];
  readonly accounts: object;
}

/** @returns the number of opcodes, and how the run ended */
async function compareSteps({
  warmAddresses,
  ...given
}: LockstepCase): Promise<{steps: number; end: Ending["end"]}> {
  const {caller, to = caller} = given.message;
  const evm = evmUnder(given.fork);
  const one = {...given, warmAddresses: [...warmAddresses, caller, to]};
  const source = new InterpreterState(one.state, one.block.blockHash);
  begin(evm, source, one);
  const run = new SteppedRun(evm);
  let steps = 0;
  const library = await LibraryRun.create(one, async theirs => {
    await run.skipHidden(theirs);
    if (run.isDone)
      assert.fail(
        `step ${steps}: the library goes on with ${describe(theirs)}, the interpreter ended: ${evm.readResult().end}`,
      );
    compareStep(run.step, theirs, steps++);
    await run.advance();
  });
  let expected: Ending;
  try {
    expected = await library.run();
  } catch (error) {
    // For its event of a REVERT the library reads memory that is not paid yet, of any size.
    if (error instanceof RangeError) return {steps, end: "failure"};
    throw error;
  }
  await run.skipHidden(undefined);
  assert.ok(run.isDone, "the interpreter goes on");
  const result = evm.readResult();
  const isSuccess = result.end === "success";
  const refund = isSuccess ? evm.refund : 0n;
  const logs = evm.readLogs().map(({address, topics, data}) => plainLog(address, topics, data));
  evm.endTransaction();
  const got: Ending = {
    end: isSuccess || result.end === "revert" ? result.end : "failure",
    gasLeft: result.gasLeft,
    // The library also returns the code that a creation made.
    returned: result.created === undefined ? toHex(result.returned) : "",
    created: isSuccess && result.created !== undefined ? toHex(result.created) : undefined,
    refund,
    logs,
    accounts: plainAccounts(source.after(evm)),
  };
  assert.deepEqual(got, expected);
  return {steps, end: got.end};
}

function begin(evm: Evm, source: InterpreterState, one: LockstepCase): void {
  setUp(evm, one.fork, source, one.block);
  evm.beginTransaction();
  for (const address of one.warmAddresses) evm.warmAddress(address);
  for (const [address, slot] of one.warmSlots) {
    evm.warmAddress(address);
    evm.warmSlot(address, slot);
  }
  evm.begin(one.message);
}

function compareStep(ours: EvmStep, theirs: InterpreterStep, step: number): void {
  const where = `step ${step}, ${describe(theirs)}`;
  assert.deepEqual(
    [ours.depth, ours.pc, ours.gasLeft],
    [theirs.depth, theirs.pc, theirs.gasLeft],
    `${where}: depth, position, gas`,
  );
  assert.deepEqual(ours.stack, theirs.stack, `${where}: stack`);
  // The library has charged for an SSTORE before it shows it.
  if (theirs.opcode.code !== SSTORE) assert.equal(ours.refund, theirs.gasRefund, `${where}: refund`);
  const size = Number(theirs.memoryWordCount) * 32;
  assert.equal(ours.memory.length, size, `${where}: size of memory`);
  if (size > WHOLE_MEMORY_BYTES && step % STEPS_PER_MEMORY !== 0) return;
  const memory = Buffer.alloc(size);
  memory.set(theirs.memory);
  if (Buffer.compare(memory, ours.memory) !== 0)
    assert.equal(toHex(ours.memory), toHex(memory), `${where}: memory`);
}

/** A run that goes on opcode by opcode. */
class SteppedRun {
  isDone = false;
  private readonly first: number;

  constructor(private readonly evm: Evm) {
    this.first = evm.instance.exports.currentFrame.value;
    this.isDone = evm.resume(0) === "ended";
  }

  get step(): EvmStep {
    return readStep(this.evm, this.first);
  }

  /** Goes on over what the library does not show: the STOP where code ends, and a REVERT that has too few words. */
  async skipHidden(theirs: InterpreterStep | undefined): Promise<void> {
    while (!this.isDone) {
      const {pc, opcode, depth} = this.step;
      if (opcode !== STOP && opcode !== REVERT) return;
      if (pc === theirs?.pc && depth === theirs.depth) return;
      await this.advance();
    }
  }

  async advance(): Promise<void> {
    let pause = this.evm.resume(1);
    if (pause === "waiting") {
      await this.evm.answerPrecompile();
      pause = this.evm.resume(0);
    }
    this.isDone = pause === "ended";
  }
}

function describe({opcode, pc, depth, gasLeft}: InterpreterStep): string {
  return `${opcode.name} at ${pc}, depth ${depth}, with ${gasLeft} gas`;
}

class LibraryRun {
  /** What a step threw. The library would take it for the end of the run. */
  private failure: unknown;

  private constructor(
    private readonly one: LockstepCase,
    private readonly state: LibraryState,
    private readonly evm: EVM,
  ) {}

  static async create(
    one: LockstepCase,
    onStep: (step: InterpreterStep) => Promise<void>,
  ): Promise<LibraryRun> {
    const state = new LibraryState(one.state);
    const evm = await createLibraryEvm(one.fork.common, state, one.block);
    const run = new LibraryRun(one, state, evm);
    evm.events.on("step", (step, resolve) => {
      if (run.failure !== undefined) return resolve?.();
      onStep(step)
        .catch(error => {
          run.failure = error;
        })
        .finally(() => resolve?.());
    });
    return run;
  }

  async run(): Promise<Ending> {
    const {evm, state, one} = this;
    const {message} = one;
    for (const name of evm.precompiles.keys()) evm.journal.addAlwaysWarmAddress(name);
    for (const address of one.warmAddresses) evm.journal.addAlwaysWarmAddress(toHex(address));
    for (const [address, slot] of one.warmSlots) evm.journal.addAlwaysWarmSlot(toHex(address), toHex(slot));
    const {createdAddress, execResult} = await evm.runCall({
      block: libraryBlock(one.fork.common, one.block),
      origin: new Address(message.origin),
      caller: new Address(message.caller),
      gasPrice: message.gasPrice,
      gasLimit: message.gas,
      ...(message.to !== undefined && {to: new Address(message.to)}),
      value: message.value,
      data: message.data,
      blobVersionedHashes: message.blobHashes.map(toHex) as `0x${string}`[],
      skipNonceIncrement: true,
    });
    if (this.failure !== undefined) throw this.failure;
    await this.destroy(execResult);
    await evm.journal.cleanup();
    const error = execResult.exceptionError?.error;
    return {
      end: error === undefined ? "success" : error === "revert" ? "revert" : "failure",
      gasLeft: message.gas - execResult.executionGasUsed,
      returned: createdAddress === undefined || error !== undefined ? toHex(execResult.returnValue) : "",
      created: error === undefined && createdAddress !== undefined ? createdAddress.toString() : undefined,
      refund: execResult.gasRefund ?? 0n,
      logs: (execResult.logs ?? []).map(([address, topics, data]) => plainLog(address, topics, data)),
      accounts: plainAccounts(await state.after()),
    };
  }

  private async destroy({selfdestruct, createdAddresses}: EVMResult["execResult"]): Promise<void> {
    for (const name of selfdestruct?.keys() ?? [])
      if (!this.one.fork.common.isActivatedEIP(6780) || createdAddresses?.has(name) === true)
        await this.evm.journal.deleteAccount(new Address(Buffer.from(name.slice(2), "hex")));
  }
}

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
