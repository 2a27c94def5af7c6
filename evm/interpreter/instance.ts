/** One instance of the WebAssembly interpreter: its exports, its memory, and the host functions that it imports. */
import {randomBytes} from "node:crypto";
import {KECCAK_EMPTY} from "../../storage/hash/keccak.ts";
import {loadWasm} from "../../storage/hash/webAssembly.ts";
import {EvmDeclined} from "./ends.ts";
import type {Exports} from "./interpreter.wasm.d.ts";
import type {StateSource} from "./stateSource.ts";

const ADDRESS_BYTES = 20;
const WORD_BYTES = 32;
const NO_HASH = new Uint8Array(32);
const MASK = (1n << 64n) - 1n;

export class EvmInstance {
  /** Documented in wasm/main.ts. Numbers are addresses or counts; u64 and i64 are bigint. */
  readonly exports: Exports;
  source: StateSource | undefined;
  /** BLOCKHASH is 0 from this block on. */
  hashesEnd = Number.POSITIVE_INFINITY;
  private readonly io: number;
  private readonly ioOut: number;
  private readonly ioSlot: number;
  /** Views of the memory, replaced when it has grown. */
  private buffer: ArrayBuffer | undefined;
  private views: {readonly bytes: Uint8Array; readonly limbs: BigUint64Array; readonly words: Uint32Array};

  constructor() {
    const host = {
      hostReadAccount: () => this.readAccount(),
      hostReadSlot: () => this.readSlot(),
      hostReadCode: () => this.readCode(),
      hostReadBlockHash: (number: bigint) => this.readBlockHash(number),
      hostDecline: (reason: number) => {
        throw new EvmDeclined(reason);
      },
    };
    this.exports = loadWasm<Exports>(new URL("interpreter.wasm", import.meta.url), {host});
    this.io = this.exports.IO.value;
    this.ioOut = this.exports.IO_OUT.value;
    this.ioSlot = this.exports.IO_SLOT.value;
    this.views = this.makeViews();
    const [a = 0n, b = 0n, c = 0n, d = 0n] = new BigUint64Array(new Uint8Array(randomBytes(32)).buffer);
    this.exports.start(a, b, c, d);
  }

  /** A view of the memory, valid until the memory grows: do not keep it. */
  get bytes(): Uint8Array {
    return this.current.bytes;
  }

  readU32(at: number): number {
    return this.current.words[at >>> 2] as number;
  }

  writeU32(at: number, value: number): void {
    this.current.words[at >>> 2] = value;
  }

  readU64(at: number): bigint {
    return this.current.limbs[at >>> 3] as bigint;
  }

  readWord(at: number): bigint {
    const {limbs} = this.current;
    const first = at >>> 3;
    const high = ((limbs[first + 3] as bigint) << 64n) | (limbs[first + 2] as bigint);
    const low = ((limbs[first + 1] as bigint) << 64n) | (limbs[first] as bigint);
    return high === 0n ? low : (high << 128n) | low;
  }

  writeWord(at: number, value: bigint): void {
    const {limbs} = this.current;
    const first = at >>> 3;
    limbs[first] = value & MASK;
    const rest = value >> 64n;
    limbs[first + 1] = rest & MASK;
    limbs[first + 2] = rest === 0n ? 0n : (rest >> 64n) & MASK;
    limbs[first + 3] = rest === 0n ? 0n : rest >> 128n;
  }

  /** @returns a copy, most significant byte first */
  readWordBytes(at: number): Uint8Array {
    return this.bytes.slice(at, at + WORD_BYTES).reverse();
  }

  /** @param word - address of a word that holds an account's address. @returns a copy, 20 bytes */
  readAddress(word: number): Uint8Array {
    return this.bytes.slice(word, word + ADDRESS_BYTES).reverse();
  }

  /** @param address - 20 bytes */
  writeAddressWord(word: number, address: Uint8Array): void {
    const {bytes} = this.current;
    bytes.fill(0, word, word + WORD_BYTES);
    for (let at = 0; at < ADDRESS_BYTES; at++) bytes[word + at] = address[ADDRESS_BYTES - 1 - at] as number;
  }

  /** @returns the account's entry in wasm/accounts.ts */
  account(address: Uint8Array): number {
    this.bytes.set(address, this.io);
    return this.exports.account();
  }

  /** @param slot - 32 bytes. @returns the slot's entry in wasm/slots.ts */
  slot(account: number, slot: Uint8Array): number {
    this.bytes.set(slot, this.ioSlot);
    return this.exports.slot(account);
  }

  private get current(): EvmInstance["views"] {
    if (this.buffer !== this.exports.memory.buffer) this.views = this.makeViews();
    return this.views;
  }

  private makeViews(): EvmInstance["views"] {
    const {buffer} = this.exports.memory;
    this.buffer = buffer;
    return {
      bytes: new Uint8Array(buffer),
      limbs: new BigUint64Array(buffer),
      words: new Uint32Array(buffer),
    };
  }

  private get state(): StateSource {
    if (this.source === undefined) throw new Error("the interpreter was given no state");
    return this.source;
  }

  private readAccount(): void {
    const {io, ioOut} = this;
    const account = this.state.readAccount(this.bytes.slice(io, io + ADDRESS_BYTES));
    this.writeU32(ioOut, account === undefined ? 0 : 1);
    this.writeU32(ioOut + 4, account?.hasStorage === true ? 1 : 0);
    this.current.limbs[(ioOut + 8) >>> 3] = account?.nonce ?? 0n;
    this.writeWord(ioOut + 16, account?.balance ?? 0n);
    this.bytes.set(account?.codeHash ?? KECCAK_EMPTY, ioOut + 48);
  }

  private readSlot(): void {
    const {io, ioOut, ioSlot} = this;
    const address = this.bytes.slice(io, io + ADDRESS_BYTES);
    const value = this.state.readSlot(address, this.bytes.slice(ioSlot, ioSlot + WORD_BYTES));
    const {bytes} = this;
    bytes.fill(0, ioOut, ioOut + WORD_BYTES);
    bytes.set(value, ioOut + WORD_BYTES - value.length);
  }

  private readCode(): void {
    const code = this.state.readCode(this.bytes.slice(this.io, this.io + WORD_BYTES));
    const at = this.exports.reserveCode(code.length);
    this.bytes.set(code, at);
    this.exports.finishCode();
  }

  private readBlockHash(number: bigint): void {
    const asked = Number(number);
    this.bytes.set(asked < this.hashesEnd ? this.state.readBlockHash(asked) : NO_HASH, this.ioOut);
  }
}
