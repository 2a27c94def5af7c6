/** JSON schema of a multiproof (docs/proofs.md, section 11). */
import {arrayOf, BYTES, HASH, objectOf, type Schema} from "../schema.ts";
import {LEAF_INDEX} from "./proofSchema.ts";

const LEAF_NUMBER = {type: "integer", minimum: 0, maximum: 2 ** 15 - 1};
const KEY = {oneOf: [objectOf({leaf: LEAF_NUMBER}), objectOf({left: LEAF_NUMBER, right: LEAF_NUMBER})]};
const BITMAP = {title: "5 bytes, a bit per height", type: "string", pattern: "^0x[0-9a-f]{10}$"};
const LINKED = {
  leafIndex: LEAF_INDEX,
  prev: LEAF_INDEX,
  next: LEAF_INDEX,
  bitmap: BITMAP,
  siblings: {...arrayOf(HASH), maxItems: 40},
};

/** @param ownContent - fields of a leaf that a key names as present. @param optional - more of them */
function partOf(
  ownContent: Readonly<Record<string, Schema>>,
  optional: Readonly<Record<string, Schema>> = {},
): Schema {
  const own = objectOf({...LINKED, ...ownContent}, optional);
  const neighbour = objectOf({...LINKED, hKey: HASH, hVal: HASH});
  const headOrTail = objectOf(LINKED);
  return objectOf({
    nextFreeNode: LEAF_INDEX,
    keys: {...arrayOf(KEY), minItems: 1},
    leaves: {...arrayOf({oneOf: [own, neighbour, headOrTail]}), minItems: 1},
  });
}

const STORAGE_TREE = partOf({value: HASH});

export const MULTI_PROOF = objectOf({
  accountTree: partOf({value: BYTES}, {storageTree: STORAGE_TREE}),
});
