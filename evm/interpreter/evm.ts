/**
 * The EVM: transactions' calls and creations on a state that is read from below and written here.
 *
 *   moveTo(state)                                  nothing is known of the state, nothing is written
 *     setBlock(rules, block)
 *       beginTransaction()                         nothing is warm, no refund, no logs
 *         run(message)                             or begin(message) and resume(steps)
 *       endTransaction()                           destroyed and touched empty accounts go
 *     written.ts reads what the block changed
 *   seal()                                         and it becomes the state below
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

/** What `resume` returns. */
type EvmPause = "paused" | "ended" | "waiting";
const PAUSES: readonly EvmPause[] = ["paused", "ended", "waiting"];

/** Between two calls of `onPause`: some 30 us. */
const STEPS_AT_ONCE = 4096;
/** Above this, what was read is forgotten before the next state or block. */
const MAX_KEPT_STATE_BYTES = 24 << 20;
const MAX_KEPT_CODE_BYTES = 16 << 20;
/** An instance whose memory grew beyond this is replaced. */
const MAX_KEPT_ARENA_BYTES = 16 << 20;

const MAX_STACK_WORDS = 1024;
const NO_BYTES = new Uint8Array(0);
const ADDRESS_BYTES = 20;
const WORD_BYTES = 32;
const LOG_HEAD_BYTES = 28;
/** EIP-4844 allows far fewer. The region in memory has room for more. */
const MAX_BLOB_HASHES = 1024;

/**
 * What it returns is waited for. What it throws ends the run, and leaves its writes.
 *
 * @param next - what comes then; a few thousand steps are short
 */
type OnPause = (next: PartTime) => Promise<void> | undefined;

export class Evm {
  private native = new EvmInstance();
  private rules: EvmRules | undefined;
  private block: EvmBlock | undefined;
  private isCreation = false;

  private curves: Readonly<Record<number, Precompile>> | undefined;

  /** @param unpaid - does work that no call pays for */
  constructor(private readonly unpaid: <T>(work: () => Promise<T>) => Promise<T> = work => work()) {}

  get instance(): EvmInstance {
    return this.native;
  }

  /** It keeps so much that `moveTo` should make room. */
  get isFull(): boolean {
    const {exports} = this.native;
    const isStateFull = exports.heapBytes() > MAX_KEPT_STATE_BYTES;
    return (
      isStateFull || exports.codesBytes() > MAX_KEPT_CODE_BYTES || exports.arenaBytes() > MAX_KEPT_ARENA_BYTES
    );
  }

  /** Begins on another state, of which nothing is known. */
  moveTo(source: StateSource): void {
    const {exports} = this.native;
    if (exports.arenaBytes() > MAX_KEPT_ARENA_BYTES) this.replace();
    else {
      if (exports.codesBytes() > MAX_KEPT_CODE_BYTES) exports.forgetCodes();
      exports.resetState();
    }
    this.native.source = source;
  }

  /** A fresh instance, which knows nothing. */
  private replace(): void {
    const {source} = this.native;
    const {rules, block} = this;
    this.native = new EvmInstance();
    this.native.source = source;
    this.rules = undefined;
    this.block = undefined;
    if (rules !== undefined && block !== undefined) this.setBlock(rules, block);
  }

  setBlock(rules: EvmRules, block: EvmBlock): void {
    const {native} = this;
    const {exports} = native;
    if (rules === this.rules && block === this.block) return;
    if (rules !== this.rules) this.writeRules(rules);
    this.rules = rules;
    this.block = block;
    native.writeAddressWord(exports.COINBASE.value, block.coinbase);
    native.writeWord(exports.TIMESTAMP.value, block.timestamp);
    native.writeWord(exports.NUMBER.value, block.number);
    native.writeWord(exports.RANDOM.value, block.random);
    native.writeWord(exports.GAS_LIMIT.value, block.gasLimit);
    native.writeWord(exports.CHAIN_ID.value, block.chainId);
    native.writeWord(exports.BASE_FEE.value, block.baseFee);
    native.writeWord(exports.BLOB_BASE_FEE.value, block.blobBaseFee);
  }

  beginTransaction(): void {
    this.native.exports.beginTransaction();
  }

  /** Removes what was destroyed, and empty accounts that were touched (EIP-161). */
  endTransaction(): void {
    this.native.exports.endTransaction();
  }

  /** What was written is the state below from now on; the source must have it too. */
  seal(): void {
    const {native} = this;
    native.exports.seal();
    if (this.isFull) this.moveTo(native.source as StateSource);
  }

  /** Precompiles are warm by themselves. */
  warmAddress(address: Uint8Array): void {
    const {native} = this;
    native.exports.warm(native.account(address));
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
    return this.copyCode(native.exports.code(native.account(address)));
  }

  /** @param slot - 32 bytes. @returns 32 bytes */
  readSlot(address: Uint8Array, slot: Uint8Array): Uint8Array {
    const {native} = this;
    return native.readWordBytes(native.slot(native.account(address), slot) + native.exports.SLOT_VALUE.value);
  }

  writeNonce(address: Uint8Array, nonce: bigint): void {
    const {native} = this;
    native.exports.writeNonce(native.account(address), nonce);
  }

  /** Wei. An account that is not there is made, unless it is 0. */
  writeBalance(address: Uint8Array, balance: bigint): void {
    const {native} = this;
    const account = native.account(address);
    native.writeWord(native.exports.IO_OUT.value, balance);
    native.exports.writeBalance(account);
  }

  /** The account is touched, also by 0. */
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
    const {native} = this;
    native.exports.clearStorage(native.account(address));
  }

  /** With its slots. */
  removeAccount(address: Uint8Array): void {
    const {native} = this;
    native.exports.removeAccount(native.account(address));
  }

  /** A mark for `revertTo`. */
  checkpoint(): number {
    return this.native.exports.checkpoint();
  }

  revertTo(checkpoint: number): void {
    this.native.exports.undo(checkpoint);
  }

  /** The counter of the transaction. */
  get refund(): bigint {
    return this.native.exports.refund.value;
  }

  addRefund(gas: bigint): void {
    this.native.exports.addRefund(gas);
  }

  /**
   * Runs a message to its end.
   *
   * @param onPause - called before every few thousand steps, and between the parts of a precompile
   * @throws EvmDeclined, WebAssembly.RuntimeError (drop this Evm then), and what the state and the precompiles throw
   */
  async run(message: EvmMessage, onPause?: OnPause): Promise<EvmResult> {
    this.begin(message);
    for (;;) {
      const paused = onPause?.("short");
      if (paused !== undefined) await paused;
      const pause = this.resume(STEPS_AT_ONCE);
      if (pause === "ended") return this.readResult();
      const answering = pause === "waiting" ? this.answerPrecompile(onPause) : undefined;
      if (answering !== undefined) await answering;
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
    exports.begin(to === undefined ? 1 : 0, gas, nonce, data.length);
    this.isCreation = to === undefined;
  }

  /** Goes on for about so many steps. A step is an opcode; one that does much counts as several. */
  resume(steps: number): EvmPause {
    const pause = PAUSES[this.native.exports.resume(steps)];
    if (pause === undefined) throw new Error("the interpreter paused for no reason that is known");
    return pause;
  }

  /** Runs the precompile that the run waits for. @returns what to wait for if it must be loaded first, or has parts */
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

  /** They take some 50 ms. */
  private async loadCurves(onPause: OnPause | undefined): Promise<void> {
    const load = () => import("./precompiles/curvePrecompiles.ts");
    this.curves = (await this.unpaid(load)).CURVE_PRECOMPILES;
    await this.answerPrecompile(onPause);
  }

  /** After "ended". */
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

  /** The transaction's, in order. */
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

  private copyCode(entry: number): Uint8Array {
    const {native} = this;
    const {CODE_AT, CODE_BYTES} = native.exports;
    const at = native.readU32(entry + CODE_AT.value);
    return native.bytes.slice(at, at + native.readU32(entry + CODE_BYTES.value));
  }

  /** As wasm/interpreter.ts reads them: gas, least height of the stack, room above it, in bytes. */
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
      const [, gas, takes, gives] = opcode;
      const growth = Math.max(0, gives - takes);
      const least = WORD_BYTES * takes;
      native.writeU32(at, gas | (least << 16));
      native.writeU32(at + 4, WORD_BYTES * (MAX_STACK_WORDS - growth) - least);
    }
    for (const [at, value] of Object.values(params).entries()) native.writeU32(PARAMS.value + 4 * at, value);
  }
}
