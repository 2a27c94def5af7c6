/** The accounts of `geth snapshot dump`, line by line: checked, and passed to what builds their tries. */
import type {TrieBuilder} from "../../storage/commit/trieBuilder.ts";
import {KECCAK_EMPTY, keccak256} from "../../storage/hash/keccak.ts";
import {toHex} from "../../storage/hex.ts";
import {EMPTY_TRIE} from "../../storage/trie/trie.ts";
import {SourceError} from "../blocks/sourceStep.ts";
import type {LineHandler} from "./lineScanner.ts";

const WORD = 32;
const ADDRESS = 20;
const MAX_NONCE = 2n ** 64n - 1n;
const MAX_BALANCE = 2n ** 256n - 1n;
/** Digits of 2^256 - 1. */
const MAX_DIGITS = 78;
const STRING = 0x80;
const QUOTE = 0x22;

const FIELDS = ["balance", "nonce", "root", "codeHash", "code", "address", "key"] as const;
type Field = (typeof FIELDS)[number];

/** geth leaves these out of some lines. */
const OPTIONAL: ReadonlySet<Field> = new Set(["code", "address"]);

export class DumpedAccounts implements LineHandler {
  /** Of the current line. */
  private readonly fields = new Map<Field, Uint8Array | bigint>();
  private hasStorage = false;
  /** Was the first line, with the root, read? */
  hasRoot = false;
  private last: Uint8Array | undefined;
  private lastSlot: Uint8Array | undefined;

  constructor(
    private readonly builder: TrieBuilder,
    private readonly stateRoot: Uint8Array,
  ) {}
  field(name: string, json: Buffer): void {
    const field = FIELDS.find(known => known === name);
    if (field === undefined)
      throw new SourceError(
        `unknown field ${JSON.stringify(name)}: expected ${FIELDS.join(", ")} or storage`,
      );
    if (this.fields.has(field)) throw twice(field);
    this.fields.set(field, readField(field, json));
  }

  startEntries(): void {
    if (this.hasStorage) throw twice("storage");
    this.hasStorage = true;
    this.lastSlot = undefined;
  }

  entry(key: Buffer, json: Buffer): void {
    const value = textOf("a slot's value", json);
    const path = readBytes("a slot's key", key, WORD);
    requireAbove("slot", path, this.lastSlot);
    this.lastSlot = path;
    const encoded = readBytes("a slot's value", value);
    if (!isSlot(encoded)) throw wrong("a slot's value", "RLP of a number above 0 and below 2^256", value);
    this.builder.addSlot(path, encoded);
  }

  end(): void {
    if (this.hasRoot) this.addAccount();
    else this.readRoot();
    this.hasRoot = true;
    this.hasStorage = false;
    this.fields.clear();
  }

  private readRoot(): void {
    const root = this.fields.get("root");
    if (root === undefined || this.fields.size > 1 || this.hasStorage)
      throw new SourceError('expected {"root":"0x.."} in the first line, got other fields');
    if (Buffer.compare(root as Uint8Array, this.stateRoot) !== 0)
      throw new SourceError(
        `expected the root ${toHex(this.stateRoot)}, that of the header, got ${toHex(root as Uint8Array)}: this is the state of another block`,
      );
  }

  private addAccount(): void {
    const {fields} = this;
    for (const field of FIELDS)
      if (!fields.has(field) && !OPTIONAL.has(field))
        throw new SourceError(`expected a field ${field}, got none`);
    const path = this.bytes("key");
    requireAbove("account", path, this.last);
    this.last = path;
    const where = `account ${toHex(path)}`;
    if (fields.has("address") && Buffer.compare(keccak256(this.bytes("address")), path) !== 0)
      throw new SourceError(`${where}: its address ${toHex(this.bytes("address"))} does not hash to its key`);
    this.builder.addAccount(path, {
      nonce: fields.get("nonce") as bigint,
      balance: fields.get("balance") as bigint,
      codeHash: this.takeCode(where),
      storage: this.takeStorage(where),
    });
  }

  private takeCode(where: string): Uint8Array {
    const hash = this.bytes("codeHash");
    const hasCode = Buffer.compare(hash, KECCAK_EMPTY) !== 0;
    if (!this.fields.has("code")) {
      if (hasCode)
        throw new SourceError(`${where}: its code ${toHex(hash)} is missing (geth's --nocode leaves it out)`);
      return hash;
    }
    const code = this.bytes("code");
    const given = keccak256(code);
    if (Buffer.compare(given, hash) !== 0)
      throw new SourceError(
        `${where}: expected code with the hash ${toHex(hash)}, got one with ${toHex(given)}`,
      );
    if (hasCode) this.builder.addCode(hash, code);
    return hash;
  }

  private takeStorage(where: string) {
    const root = this.bytes("root");
    const storage = this.hasStorage ? this.builder.endSlots() : EMPTY_TRIE;
    if (Buffer.compare(storage.root, root) === 0) return storage;
    const got = this.hasStorage ? `its slots give ${toHex(storage.root)}` : "it has no slots";
    throw new SourceError(
      `${where}: expected the storage root ${toHex(root)}, ${got}: expected the hashes of all slots, with RLP values, as ` +
        "`geth snapshot dump` writes them",
    );
  }

  private bytes(field: Field): Uint8Array {
    return this.fields.get(field) as Uint8Array;
  }
}

function readField(field: Field, json: Buffer): Uint8Array | bigint {
  if (field === "nonce") {
    if (json[0] === QUOTE) throw wrong(field, "digits without quotes", json.subarray(1, -1));
    return readNumber(field, json, MAX_NONCE, "below 2^64");
  }
  const value = textOf(field, json);
  if (field === "balance") return readNumber(field, value, MAX_BALANCE, "below 2^256");
  return readBytes(field, value, field === "code" ? undefined : field === "address" ? ADDRESS : WORD);
}

function readNumber(field: string, text: Buffer, most: bigint, range: string): bigint {
  const digits = text.length <= MAX_DIGITS ? text.toString("latin1").trim() : "";
  const number = /^(0|[1-9]\d*)$/.test(digits) ? BigInt(digits) : most + 1n;
  if (number > most) throw wrong(field, `a decimal number ${range}`, text);
  return number;
}

/** Without its quotes. */
function textOf(name: string, json: Buffer): Buffer {
  if (json[0] !== QUOTE) throw wrong(name, "text in quotes", json);
  return json.subarray(1, -1);
}

/** @param text - hex digits, with or without 0x. @returns a new array */
function readBytes(name: string, text: Buffer, length?: number): Uint8Array {
  const start = text[0] === 0x30 && text[1] === 0x78 ? 2 : 0;
  const digits = text.length - start;
  const bytes = new Uint8Array(Buffer.from(text.toString("latin1", start), "hex"));
  if (2 * bytes.length !== digits || (length !== undefined && bytes.length !== length))
    throw wrong(
      name,
      length === undefined ? "hex digits, two for each byte" : `${2 * length} hex digits`,
      text,
    );
  return bytes;
}

/** Is it the canonical RLP of a slot's value? */
function isSlot(rlp: Uint8Array): boolean {
  const [first = 0, second = 0] = rlp;
  if (rlp.length === 1) return first > 0 && first < STRING;
  return (
    first === STRING + rlp.length - 1 &&
    rlp.length <= 1 + WORD &&
    second > 0 &&
    (rlp.length > 2 || second >= STRING)
  );
}

function requireAbove(what: string, path: Uint8Array, last: Uint8Array | undefined): void {
  const order = last === undefined ? 1 : Buffer.compare(path, last);
  if (order === 0) throw new SourceError(`${what} ${toHex(path)} is there twice`);
  if (order < 0)
    throw new SourceError(
      `${what} ${toHex(path)} is out of order: expected ascending hashes, got it after ${toHex(last as Uint8Array)}`,
    );
}

function wrong(name: string, expected: string, value: Buffer): SourceError {
  const shown = value.length > 80 ? `${value.toString("latin1", 0, 80)}..` : value.toString("latin1");
  return new SourceError(`${name}: expected ${expected}, got ${JSON.stringify(shown)}`);
}

function twice(field: string): SourceError {
  return new SourceError(`field ${field} is there twice`);
}
