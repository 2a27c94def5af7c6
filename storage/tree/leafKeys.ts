/**
 * The keys of 8 leaves that follow each other: what was hashed to their hKeys.
 *
 *   'k' | owner u40 | leaf index / 8 u40
 *   body   known u8 | for each leaf whose bit is set in `known`, lowest first:
 *              in the account tree      address 20
 *              in a tree of slots       length u8, slot without leading zeros
 *
 * The owner of the account tree is 0. That of a tree of slots is the index of its account's leaf: an account that is
 * created again gets another leaf, and another tree.
 *
 * A leaf never moves, and its position is never given to another leaf of the same chain. So a key has no versions: it
 * is right at every block that has the leaf. It stays when the leaf is deleted, because older blocks have it. Positions
 * are reused only after a rollback. A record may contain keys of leaves that were rolled back, or of a refused block:
 * they are at positions that no block uses, and are dropped when the first of these positions is reused
 * (commit/leafKeyWriter.ts).
 */
import {StoreError} from "../errors.ts";
import {leafKeysKey, nameOfKey} from "../record/layout.ts";
import {BodyReader} from "../record/recordBody.ts";

/** The owner of the account tree. No account's leaf has this index, which is the head's. */
export const ACCOUNTS_OWNER = 0;

export const KEYS_PER_RECORD = 8;
const ADDRESS_BYTES = 20;
const MAX_SLOT_BYTES = 32;

/** By leaf index modulo KEYS_PER_RECORD: an address, or a slot without leading zeros. undefined: no leaf. */
export type LeafKeys = readonly (Uint8Array | undefined)[];

export const NO_KEYS: LeafKeys = [];

export function encodeLeafKeys(owner: number, keys: LeafKeys): Buffer {
  const parts: Uint8Array[] = [];
  let known = 0;
  for (const [position, key] of keys.entries()) {
    if (key === undefined) continue;
    known |= 1 << position;
    if (owner !== ACCOUNTS_OWNER) parts.push(Uint8Array.of(key.length));
    parts.push(key);
  }
  return Buffer.concat([Uint8Array.of(known), ...parts]);
}

/** The failure of a read: every leaf has a key. */
export function missingKey(owner: number, leafIndex: number): StoreError {
  const name = nameOfKey(leafKeysKey(owner, Math.floor(leafIndex / KEYS_PER_RECORD)));
  return new StoreError("RECORD_MISSING", `${name}: that of leaf ${leafIndex} is not in the store`);
}

/** @returns views of the body, KEYS_PER_RECORD entries. @throws StoreError RECORD_DAMAGED */
export function decodeLeafKeys(owner: number, page: number, body: Buffer): LeafKeys {
  const name = nameOfKey(leafKeysKey(owner, page));
  const reader = new BodyReader(name, body);
  const known = reader.number(1);
  const keys: (Uint8Array | undefined)[] = [];
  for (let position = 0; position < KEYS_PER_RECORD; position++) {
    if (((known >> position) & 1) === 0) {
      keys.push(undefined);
      continue;
    }
    const bytes = owner === ACCOUNTS_OWNER ? ADDRESS_BYTES : reader.number(1);
    if (bytes > MAX_SLOT_BYTES) throw new StoreError("RECORD_DAMAGED", `${name}: a slot of ${bytes} bytes`);
    keys.push(reader.bytes(bytes));
  }
  return reader.end(keys);
}
