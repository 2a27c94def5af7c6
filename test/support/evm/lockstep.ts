/**
 * One message in the library's EVM and in the interpreter, opcode by opcode: before each opcode both must agree about the
 * position, gas, stack, memory and refund, and at the end about everything that is left.
 */
import assert from "node:assert/strict";
import type {EVM, EVMResult, InterpreterStep} from "@ethereumjs/evm";
import {Address} from "@ethereumjs/util";
import type {Evm} from "../../../evm/interpreter/evm.ts";
import type {EvmMessage} from "../../../evm/interpreter/message.ts";
import {toHex} from "../../../storage/hex.ts";
import type {MemoryState} from "../chains/memoryState.ts";
import type {ChainFork} from "./chainFork.ts";
import {InterpreterState} from "./interpreterState.ts";
import {evmUnder, setUp} from "./interpreterTransaction.ts";
import {createLibraryEvm, libraryBlock} from "./libraryBlock.ts";
import {LibraryState} from "./libraryState.ts";
import {type BlockFields, plainAccounts, plainLog} from "./transactionOutcome.ts";

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
  const frame = exports.currentFrame();
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

export interface LockstepCase {
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
export async function compareSteps({
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
    this.first = evm.instance.exports.currentFrame();
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
