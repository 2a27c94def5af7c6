/**
 * The packed form of a call for a proof. Calls lie back to back, so that one buffer crosses to a
 * proof thread instead of objects:
 *
 *   0           6            26               28        29
 *   | block u48 | address 20 | key count u16 | form u8 | keys, 32 bytes each ...
 *
 * A call for a multiproof has one such entry for each account. The first one has the call's form, the others have
 * NEXT_ENTRY:
 *
 *   | MULTI_HEX, account, keys | NEXT_ENTRY, account, keys | NEXT_ENTRY, account, keys |
 *
 * A call for a proof of Ethereum's trie as JSON (forms ETH and ETH_AT) has one byte for each key behind the keys:
 *
 *   | head | keys, 32 bytes each ... | is short u8 each ... |        1: the answer has the key as a number without leading zeros
 *
 * A call for slots whose bytes stand elsewhere (forms SLOTS and TRIE_SLOTS) begins its keys with bits, the lowest one
 * for the first slot: 1 for a slot of Solidity's `bytes` or `string`:
 *
 *   | head | bits 32 | slots, 32 bytes each ... |
 *
 * A call that takes long has its other fields as JSON text, filled with blanks, in the place of as many keys:
 *
 *   | head | {"from":2,"count":3,"isAccounts":false}                          |
 *
 * Hot: the functions run once or twice per call.
 */

const KEY_COUNT_AT = 26;
const FORM_AT = 28;
const KEY_BYTES = 32;

export const ADDRESS_AT = 6;
export const ADDRESS_BYTES = 20;
/** Where the keys begin: the length of a call without keys. */
export const KEYS_AT = 29;

/** Accounts and storage keys of a call for a multiproof together. It holds a thread for 30 ms at most. */
export const MAX_MULTI_KEYS = 2000;

/** Words of one `bytes` or `string`. A contract verifies them for 26 million gas with poseidon2; nodes allow 50 million. */
export const MAX_BYTES_WORDS = 128;

/** The suite of Ethereum's tries. */
export const KECCAK_SUITE = "keccak";

/** Of a header that comes with a proof. A longer one, which no chain has, is left out. */
export const MAX_HEADER_BYTES = 2 ** 16;

/** Of a form: the answer is bytes, instead of a JSON-RPC response with their hex. */
export const AS_BYTES = 0x80;

export const ProofForm = {
  /** The proof alone. */
  PLAIN: 0,
  WITH_BLOCK: 1,
  /** The proof alone. It has no storage proofs if the account does not exist or never had a slot. */
  NO_EMPTY_STORAGE: 2,
  MULTI_HEX: 3,
  MULTI_BYTES: 0x83,
  /** No call of its own: one more account of the multiproof before it. */
  NEXT_ENTRY: 5,
  /** No proof: finalizations (finalizationsCall.ts). */
  FINALIZATIONS: 6,
  /** The leaves of a range (leavesCall.ts). */
  LEAVES_HEX: 7,
  LEAVES_BYTES: 0x87,
  /** The leaves that differ between two blocks (changesCall.ts). */
  CHANGES_HEX: 9,
  CHANGES_BYTES: 0x89,
  /** No proof: contract code (codesCall.ts). */
  CODES: 11,
  /** Of Ethereum's trie, as eth_getProof answers. */
  ETH: 12,
  /** The same, with its block and the block's header. */
  ETH_AT: 13,
  /** A multiproof of Ethereum's trie. */
  TRIE_MULTI_HEX: 14,
  TRIE_MULTI_BYTES: 0x8e,
  /** An array of answers as for ETH, one for each entry. All keys are long. */
  ETH_MULTI: 16,
  /** No proofs: a value of an account, or its slot, as Ethereum's methods answer. */
  BALANCE: 17,
  NONCE: 18,
  CODE: 19,
  SLOT: 20,
  /** The answer of CCIP-read, of a sparse tree or of Ethereum's trie (slotsAnswer.ts). */
  SLOTS: 21,
  TRIE_SLOTS: 22,
} as const;

export type ProofForm = (typeof ProofForm)[keyof typeof ProofForm];

export function packedBytes(keyCount: number): number {
  return KEYS_AT + keyCount * KEY_BYTES;
}

/** Bytes that calls of this cost together have at most, an account or key 1, however the cost is divided among them. */
export function mostPackedBytes(cost: number): number {
  // The head of a call is shorter than a key. Calls of the forms ETH and ETH_AT have a byte more for each key.
  return packedBytes(cost) + cost;
}

/** The end of the call that begins at `start`, with all its entries. */
export function callEnd(calls: Buffer, start: number): number {
  const keyCount = readKeyCount(calls, start);
  let end = start + packedBytes(keyCount);
  const form = readCallForm(calls, start);
  if (form === ProofForm.ETH || form === ProofForm.ETH_AT) return end + keyCount;
  while (end < calls.length && readCallForm(calls, end) === ProofForm.NEXT_ENTRY)
    end += packedBytes(readKeyCount(calls, end));
  return end;
}

/** Where the entries of a call begin, which is one account and its keys each. @param call - one call */
export function listEntries(call: Buffer): number[] {
  const entries: number[] = [];
  for (let at = 0; at < call.length; at += packedBytes(readKeyCount(call, at))) entries.push(at);
  return entries;
}

/** The call for the account that `call` names, without keys. @param call - one call */
export function accountCall(call: Buffer): Buffer {
  const account = Buffer.from(call.subarray(0, KEYS_AT));
  account.writeUInt16BE(0, KEY_COUNT_AT);
  return account;
}

/** How many keys a packed call of this length, for one account, has. */
export function keyCountOf(byteCount: number): number {
  return (byteCount - KEYS_AT) / KEY_BYTES;
}

/** Writes all but the address and the keys of the call that begins at `start`. */
export function writeCallHead(
  calls: Buffer,
  start: number,
  block: number,
  keyCount: number,
  form: ProofForm,
): void {
  calls.writeUIntBE(block, start, 6);
  calls.writeUInt16BE(keyCount, start + KEY_COUNT_AT);
  calls[start + FORM_AT] = form;
}

/** @param address - undefined: none. @returns a packed call */
export function packFields(
  form: ProofForm,
  block: number,
  address: Uint8Array | undefined,
  fields: object,
): Buffer {
  const text = JSON.stringify(fields);
  const keyCount = Math.ceil(text.length / KEY_BYTES);
  const call = Buffer.alloc(packedBytes(keyCount), " ");
  writeCallHead(call, 0, block, keyCount, form);
  if (address !== undefined) call.set(address, ADDRESS_AT);
  call.write(text, KEYS_AT, "latin1");
  return call;
}

/** @param call - one call, as packFields wrote it; the other reader takes the same */
export function readFields<Fields>(call: Buffer): Fields {
  return JSON.parse(call.toString("latin1", KEYS_AT)) as Fields;
}

/** @returns a view */
export function readAddress(call: Buffer): Buffer {
  return call.subarray(ADDRESS_AT, ADDRESS_AT + ADDRESS_BYTES);
}

/** @param start - where the call begins; the other readers take the same */
export function readCallBlock(calls: Buffer, start: number): number {
  return calls.readUIntBE(start, 6);
}

export function readKeyCount(calls: Buffer, start: number): number {
  return calls.readUInt16BE(start + KEY_COUNT_AT);
}

export function readCallForm(calls: Uint8Array, start: number): ProofForm {
  return calls[start + FORM_AT] as ProofForm;
}
