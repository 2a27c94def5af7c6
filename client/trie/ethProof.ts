/**
 * Verifies answers of eth_getProof (EIP-1186) against the state root of a block's header. Every known field of an
 * answer must agree with what its nodes prove. Unknown fields are ignored.
 */
import {keccak_256} from "@noble/hashes/sha3.js";
import {decodeHex, encodeHex, type Hex, quantity} from "../bytes/hex.ts";
import {shown} from "../bytes/values.ts";
import {word} from "../hash/hashSuites.ts";
import {NO_CODE_KECCAK} from "../proof/account.ts";
import {parseAddress, parseStorageKey} from "../proof/request.ts";
import {check, readArray, readFields} from "../proof/strictJson.ts";
import {decodeItem, decodeList, type RlpItem, readHash, readNumber} from "./rlp.ts";
import {EMPTY_TRIE, verifyTrieKey} from "./trieProof.ts";

export interface EthAccount {
  readonly nonce: bigint;
  readonly balance: bigint;
  /** Text with `0x`, like codeHash. */
  readonly storageHash: Hex;
  readonly codeHash: Hex;
}

/** What an answer proves; undefined: proven absent. */
export interface ProvenEth {
  readonly account: EthAccount | undefined;
  /** One per requested key, in request order. */
  readonly slots: readonly (bigint | undefined)[];
}

const NONCE_BYTES = 8;
const WORD_BYTES = 32;
const ZERO_HASH = encodeHex(word(0));

/**
 * @param stateRoot - of the block's header, trusted, 32 bytes
 * @param address - as requested, in any case
 * @param keys - as requested, in any case; `0x` and 1 to 64 digits each
 * @param result - the `result` of the answer, parsed; or what viem's getProof made of it
 * @throws ProofError that names the place in the answer and the check that failed
 */
export function verifyEthProof(
  stateRoot: Uint8Array,
  address: string,
  keys: readonly string[],
  result: unknown,
): ProvenEth {
  const fields = readFields("result", result, ["address", "accountProof", "storageProof"]);
  const [echo, accountProof, storageProof] = fields;
  const owner = parseAddress(address);
  checkText("address", echo, encodeHex(owner));
  // geth sends null for the proof of an empty state.
  const value = verifyTrieKey(stateRoot, keccak_256(owner), "accountProof", accountProof ?? []);
  const account = value && decodeEthAccount("accountProof: the account's value", value);
  checkFields(result, account);
  const asked = readArray("request", keys, undefined, parseStorageKey);
  const storageRoot = account === undefined ? EMPTY_TRIE : decodeHex(account.storageHash);
  const slots = readArray("storageProof", storageProof, asked.length, (entry, i) =>
    verifyEntry(storageRoot, asked[i] as bigint, `storageProof[${i}]`, entry),
  );
  return {account, slots};
}

/** @param value - of the state trie. @throws ProofError */
export function decodeEthAccount(at: string, value: Uint8Array): EthAccount {
  const items = decodeList(at, value);
  check(items.length === 4, at, () => `expected 4 fields, got ${items.length}`);
  const [nonce, balance, storageHash, codeHash] = items as [RlpItem, RlpItem, RlpItem, RlpItem];
  return {
    nonce: readNumber(at, nonce, NONCE_BYTES),
    balance: readNumber(at, balance, WORD_BYTES),
    storageHash: encodeHex(readHash(at, storageHash)),
    codeHash: encodeHex(readHash(at, codeHash)),
  };
}

/** Fields beside the proof. Some nodes write zero hashes for an absent account, others those of no code and storage. */
function checkFields(result: unknown, account: EthAccount | undefined): void {
  const names = ["nonce", "balance", "storageHash", "codeHash"];
  const [nonce, balance, storageHash, codeHash] = readFields("result", result, names);
  checkNumber("nonce", nonce, account?.nonce ?? 0n);
  checkNumber("balance", balance, account?.balance ?? 0n);
  const isZero = (claimed: unknown) => account === undefined && claimed === ZERO_HASH;
  if (!isZero(storageHash))
    checkText("storageHash", storageHash, account?.storageHash ?? encodeHex(EMPTY_TRIE));
  if (!isZero(codeHash)) checkText("codeHash", codeHash, account?.codeHash ?? encodeHex(NO_CODE_KECCAK));
}

function verifyEntry(storageRoot: Uint8Array, slot: bigint, at: string, entry: unknown): bigint | undefined {
  const [echo, claimed, proof] = readFields(at, entry, ["key", "value", "proof"]);
  const isEcho = typeof echo === "string" && /^0x[0-9a-fA-F]{1,64}$/.test(echo) && BigInt(echo) === slot;
  check(isEcho, `${at}.key`, () => `expected ${quantity(slot)}, got ${shown(echo)}`);
  const value = verifyTrieKey(storageRoot, keccak_256(word(slot)), `${at}.proof`, proof);
  const number = value && decodeSlot(`${at}.proof`, value);
  checkNumber(`${at}.value`, claimed, number ?? 0n);
  return number;
}

/** @param value - of a storage trie. @throws ProofError */
export function decodeSlot(at: string, value: Uint8Array): bigint {
  const number = readNumber(at, decodeItem(at, value), WORD_BYTES);
  check(number !== 0n, at, "a slot is stored as zero");
  return number;
}

/** @param claimed - as a node writes numbers, or as viem parses them */
function checkNumber(at: string, claimed: unknown, proven: bigint): void {
  const isSafe = Number.isSafeInteger(claimed);
  const isSame = claimed === quantity(proven) || claimed === proven || (isSafe && claimed === Number(proven));
  check(isSame, at, () => `expected ${quantity(proven)}, got ${shown(claimed)}`);
}

function checkText(at: string, claimed: unknown, proven: string): void {
  check(claimed === proven, at, () => `expected ${proven}, got ${shown(claimed)}`);
}
