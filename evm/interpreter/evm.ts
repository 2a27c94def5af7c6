/**
 * The EVM: runs calls and creations on a state that it reads from a StateSource and caches. Writes stay in the cache.
 *
 *   moveTo(source)                                 empties the cache
 *     setBlock(rules, block)
 *       beginTransaction()                         nothing is warm, no refund, no logs
 *         run(message)                             or begin(message) and resume(steps)
 *       endTransaction()                           removes destroyed accounts, and touched ones that are empty
 *     written.ts lists what the block changed
 *   seal()                                         the source has these changes from now on
 */
import {type EvmEnd, endOf} from "./ends.ts";
import {EvmInstance} from "./instance.ts";
import type {EvmBlock, EvmLog, EvmMessage, EvmResult} from "./message.ts";
import {
  type PartTime,
  type Precompile,
  type PrecompileAnswer,
  runPrecompile,
} from "./precompiles/precompile.ts";
import {QUICK_PRECOMPILES} from "./precompiles/quickPrecompiles.ts";
import type {EvmRules} from "./rules.ts";
import type {StateSource} from "./stateSource.ts";
import {finish, type Waits} from "./waits.ts";

type EvmPause = "paused" | "ended" | "waiting";
const PAUSES: readonly EvmPause[] = ["paused", "ended", "waiting"];

/** Steps between two calls of `onPause`: about 30 us. */
const STEPS_AT_ONCE = 4096;
/** A larger cache of state or codes is emptied before the next state or block. */
const MAX_KEPT_STATE_BYTES = 24 << 20;
const MAX_KEPT_CODE_BYTES = 16 << 20;
/** An instance whose memory grew beyond this is replaced. */
const MAX_KEPT_ARENA_BYTES = 16 << 20;

const MAX_STACK_WORDS = 1024;
const NO_BYTES = new Uint8Array(0);
const ADDRESS_BYTES = 20;
const WORD_BYTES = 32;
const LOG_HEAD_BYTES = 28;
/** Room for blob hashes in memory. EIP-4844 allows far fewer. */
const MAX_BLOB_HASHES = 1024;

/** The run continues once the promise resolves. An error ends it, and the caller must revert its writes. */
type OnPause = (next: PartTime) => Promise<void> | undefined;

export class Evm {
  private native = new EvmInstance();
  private rules: EvmRules | undefined;
  private block: EvmBlock | undefined;
  private isCreation = false;

  private curves: Readonly<Record<number, Precompile>> | undefined;

  /** @param unpaid - wraps work that must not count as a call's time, such as loading modules */
  constructor(private readonly unpaid: <T>(work: () => Promise<T>) => Promise<T> = work => work()) {}

  get instance(): EvmInstance {
    return this.native;
  }

  /** The caches are so large that `moveTo` should empty them. */
  get isFull(): boolean {
    const {exports} = this.native;
    const isStateFull = exports.heapBytes() > MAX_KEPT_STATE_BYTES;
    return (
      isStateFull || exports.codesBytes() > MAX_KEPT_CODE_BYTES || exports.arenaBytes() > MAX_KEPT_ARENA_BYTES
    );
  }

  /**
   * Switches to another state, and empties the cache of accounts and slots. Call `setBlock` next. @param isWitnessed - the
   * source notes what it is asked for: it is also asked for codes that are cached, and for what other EVMs read before they
   * run out of gas
   */
  moveTo(source: StateSource, isWitnessed = false): void {
    const {exports} = this.native;
    if (exports.arenaBytes() > MAX_KEPT_ARENA_BYTES) {
      this.native = new EvmInstance();
      this.rules = undefined;
      this.block = undefined;
    } else {
      if (isWitnessed || exports.codesBytes() > MAX_KEPT_CODE_BYTES) exports.forgetCodes();
      exports.resetState();
    }
    this.native.source = source;
    this.native.exports.setReadsUnpaid(isWitnessed);
  }

  setBlock(rules: EvmRules, block: EvmBlock): void {
    const {native} = this;
    if (rules === this.rules && block === this.block) return;
    if (rules !== this.rules) this.writeRules(rules);
    this.rules = rules;
    this.block = block;
    const {coinbase, timestamp, number, random, gasLimit, chainId, baseFee, blobBaseFee} = block;
    native.hashesEnd = block.hashesEnd ?? Number.POSITIVE_INFINITY;
    const at = native.exports.BLOCK.value;
    native.writeAddressWord(at, coinbase);
    const words = [timestamp, number, random, gasLimit, chainId, 0n, baseFee, 0n, blobBaseFee];
    for (const [i, word] of words.entries()) native.writeWord(at + WORD_BYTES * (i + 1), word);
  }

  beginTransaction(): void {
    this.native.exports.beginTransaction();
  }

  /** Removes destroyed accounts, and touched ones that are empty (EIP-161). */
  endTransaction(): void {
    this.native.exports.endTransaction();
  }

  /** Marks all writes as part of the source's state. The source must return them from now on. */
  seal(): void {
    const {native} = this;
    native.exports.seal();
    if (this.isFull) this.moveTo(native.source as StateSource);
  }

  /** Not needed for precompiles, which are always warm. */
  warmAddress(address: Uint8Array): void {
    this.native.exports.warm(this.native.account(address));
  }

  /** EIP-3651. It reads nothing. */
  warmCoinbase(): void {
    this.native.exports.warmCoinbase();
  }

  /** @param slot - 32 bytes */
  warmSlot(address: Uint8Array, slot: Uint8Array): void {
    const {native} = this;
    native.exports.warmSlot(native.slot(native.account(address), slot));
  }

  exists(address: Uint8Array): boolean {
    const {native} = this;
    return native.readU32(native.account(address) + native.exports.EXISTS.value) !== 0;
  }

  readNonce(address: Uint8Array): bigint {
    const {native} = this;
    return native.readU64(native.account(address) + native.exports.NONCE.value);
  }

  readBalance(address: Uint8Array): bigint {
    const {native} = this;
    return native.readWord(native.account(address) + native.exports.BALANCE.value);
  }

  readCode(address: Uint8Array): Uint8Array {
    const {native} = this;
    const {CODE_AT, CODE_BYTES} = native.exports;
    const entry = native.exports.code(native.account(address));
    const at = native.readU32(entry + CODE_AT.value);
    return native.bytes.slice(at, at + native.readU32(entry + CODE_BYTES.value));
  }

  /** @param slot - 32 bytes. @returns 32 bytes */
  readSlot(address: Uint8Array, slot: Uint8Array): Uint8Array {
    const {native} = this;
    return native.readWordBytes(native.slot(native.account(address), slot) + native.exports.SLOT_VALUE.value);
  }

  writeNonce(address: Uint8Array, nonce: bigint): void {
    this.native.exports.writeNonce(this.native.account(address), nonce);
  }

  /** @param balance - wei. Unless it is 0, a missing account is created */
  writeBalance(address: Uint8Array, balance: bigint): void {
    const {native} = this;
    const account = native.account(address);
    native.writeWord(native.exports.IO_OUT.value, balance);
    native.exports.writeBalance(account);
  }

  /** Touches the account, even if `amount` is 0. */
  addBalance(address: Uint8Array, amount: bigint): void {
    const {native} = this;
    const account = native.account(address);
    native.exports.touchAccount(account);
    if (amount === 0n) return;
    const {BALANCE, IO_OUT} = native.exports;
    native.writeWord(IO_OUT.value, native.readWord(account + BALANCE.value) + amount);
    native.exports.writeBalance(account);
  }

  writeCode(address: Uint8Array, code: Uint8Array): void {
    const {native} = this;
    const account = native.account(address);
    const at = native.exports.reserveInput(code.length);
    native.bytes.set(code, at);
    native.exports.writeCode(account, code.length);
  }

  /** @param slot - 32 bytes. @param value - at most 32 bytes */
  writeSlot(address: Uint8Array, slot: Uint8Array, value: Uint8Array): void {
    const {native} = this;
    const account = native.account(address);
    const entry = native.slot(account, slot);
    const at = native.exports.IO_OUT.value;
    native.bytes.fill(0, at, at + WORD_BYTES);
    native.bytes.set(value, at + WORD_BYTES - value.length);
    native.exports.writeSlot(account, entry);
  }

  clearStorage(address: Uint8Array): void {
    this.native.exports.clearStorage(this.native.account(address));
  }

  removeAccount(address: Uint8Array): void {
    this.native.exports.removeAccount(this.native.account(address));
  }

  /** @returns a mark for `revertTo` */
  checkpoint(): number {
    return this.native.exports.checkpoint();
  }

  revertTo(checkpoint: number): void {
    this.native.exports.undo(checkpoint);
  }

  get refund(): bigint {
    return this.native.exports.refund.value;
  }

  addRefund(gas: bigint): void {
    this.native.exports.addRefund(gas);
  }

  /**
   * @param onPause - called before every few thousand steps, and between the parts of a precompile
   * @throws EvmDeclined; errors of the source and of `onPause`; WebAssembly.RuntimeError: do not use this Evm again
   */
  run(message: EvmMessage, onPause?: OnPause): Promise<EvmResult> {
    return finish(this.steps(message, onPause));
  }

  /** As `run`. */
  *steps(message: EvmMessage, onPause?: OnPause): Waits<EvmResult> {
    this.begin(message);
    for (;;) {
      const paused = onPause?.("short");
      if (paused !== undefined) yield paused;
      const pause = this.resume(STEPS_AT_ONCE);
      if (pause === "ended") return this.readResult();
      const answering = pause === "waiting" ? this.answerPrecompile(onPause) : undefined;
      if (answering !== undefined) yield answering;
    }
  }

  begin({origin, caller, to, value, data, gas, gasPrice, blobHashes, nonce}: EvmMessage): void {
    const {native} = this;
    const {exports} = native;
    native.writeAddressWord(exports.ORIGIN.value, origin);
    native.writeWord(exports.GAS_PRICE.value, gasPrice);
    if (blobHashes.length > MAX_BLOB_HASHES)
      throw new Error(`expected at most ${MAX_BLOB_HASHES} blob hashes, got ${blobHashes.length}`);
    native.writeU32(exports.BLOB_COUNT.value, blobHashes.length);
    for (const [at, hash] of blobHashes.entries())
      native.bytes.set(hash, exports.BLOBS.value + WORD_BYTES * at);
    const input = exports.reserveInput(data.length);
    const {bytes} = native;
    bytes.set(data, input);
    bytes.set(caller, exports.IO.value);
    if (to !== undefined) bytes.set(to, exports.IO.value + ADDRESS_BYTES);
    native.writeWord(exports.IO_OUT.value, value);
    this.isCreation = to === undefined;
    exports.begin(this.isCreation, gas, nonce, data.length);
  }

  /** Runs about `steps` steps. A step is an opcode; an expensive one counts as several. */
  resume(steps: number): EvmPause {
    const pause = PAUSES[this.native.exports.resume(steps)];
    if (pause === undefined) throw new Error("the interpreter paused for an unknown reason");
    return pause;
  }

  /** Runs the precompile that the run waits for. @returns a promise if it must be loaded first or runs in parts */
  answerPrecompile(onPause?: OnPause): Promise<void> | undefined {
    const {native} = this;
    const {exports} = native;
    const address = exports.awaitedPrecompile.value;
    const precompile = QUICK_PRECOMPILES[address] ?? this.curves?.[address];
    if (precompile === undefined) return this.loadCurves(onPause);
    const at = exports.awaitedInputAt.value;
    const data = native.bytes.slice(at, at + exports.awaitedInputBytes.value);
    const hasP256 = this.rules?.params.hasP256 === 1;
    const parts = runPrecompile(precompile, data, exports.awaitedGas(), hasP256);
    const first = parts.next();
    if (first.done !== true) return this.runParts(parts, first.value, onPause);
    this.writeAnswer(first.value);
    return undefined;
  }

  private async runParts(
    parts: ReturnType<typeof runPrecompile>,
    first: PartTime,
    onPause: OnPause | undefined,
  ): Promise<void> {
    for (let next = first; ; ) {
      const paused = onPause?.(next);
      if (paused !== undefined) await paused;
      const part = parts.next();
      if (part.done === true) return this.writeAnswer(part.value);
      next = part.value;
    }
  }

  private writeAnswer(answer: PrecompileAnswer): void {
    const {native} = this;
    const {exports} = native;
    if (typeof answer === "string") exports.answerPrecompile(answer === "failed" ? -1n : -2n);
    else {
      native.bytes.set(answer.output, exports.reserveReturned(answer.output.length));
      exports.answerPrecompile(answer.gas);
    }
  }

  /** Loading takes about 50 ms, and most runs need none of them. */
  private async loadCurves(onPause: OnPause | undefined): Promise<void> {
    const load = () => import("./precompiles/curvePrecompiles.ts");
    this.curves = (await this.unpaid(load)).CURVE_PRECOMPILES;
    await this.answerPrecompile(onPause);
  }

  /** Call it after "ended". */
  readResult(): EvmResult {
    const {native} = this;
    const {exports} = native;
    const end: EvmEnd = endOf(exports.endKind.value);
    const bytes = exports.returnedBytes.value;
    const at = exports.RETURNED.value;
    const least = exports.leastGas();
    return {
      end,
      gasLeft: exports.gasLeft.value,
      returned: bytes === 0 ? NO_BYTES : native.bytes.slice(at, at + bytes),
      created:
        this.isCreation && end === "success" ? native.readAddress(exports.CREATED_ADDRESS.value) : undefined,
      leastGas: least < 0n ? undefined : least,
      isBounded: exports.isBounded.value !== 0,
    };
  }

  /** The logs of the transaction, in order. */
  readLogs(): EvmLog[] {
    const {native} = this;
    const {bytes} = native;
    const logs: EvmLog[] = [];
    const end = native.exports.logsEnd();
    for (let at = native.exports.LOGS.value; at < end; ) {
      const count = native.readU32(at);
      const length = native.readU32(at + 4);
      const address = bytes.slice(at + 8, at + LOG_HEAD_BYTES);
      const first = at + LOG_HEAD_BYTES;
      const topics = Array.from({length: count}, (_, topic) =>
        bytes.slice(first + WORD_BYTES * topic, first + WORD_BYTES * (topic + 1)),
      );
      const dataAt = first + WORD_BYTES * count;
      logs.push({address, topics, data: bytes.slice(dataAt, dataAt + length)});
      at = (dataAt + length + 7) & ~7;
    }
    return logs;
  }

  /** Per opcode: gas u16, minimum stack height u16, room above that height u32. Heights are in bytes. */
  private writeRules({opcodes, params}: EvmRules): void {
    const {native} = this;
    const {OPCODES, PARAMS} = native.exports;
    for (const [code, opcode] of opcodes.entries()) {
      const at = OPCODES.value + 8 * code;
      if (opcode === undefined) {
        native.writeU32(at, 0xffff_0000);
        native.writeU32(at + 4, 0);
        continue;
      }
      const [gas, takes, gives] = opcode;
      const growth = Math.max(0, gives - takes);
      const least = WORD_BYTES * takes;
      native.writeU32(at, gas | (least << 16));
      native.writeU32(at + 4, WORD_BYTES * (MAX_STACK_WORDS - growth) - least);
    }
    for (const [at, value] of Object.values(params).entries()) native.writeU32(PARAMS.value + 4 * at, value);
  }
}
