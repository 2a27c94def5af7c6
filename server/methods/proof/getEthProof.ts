/** eth_getProof (EIP-1186): proofs in Ethereum's state trie, equal to geth's to the byte. */
import {ProofForm} from "../../../workers/messages/packedCall.ts";
import type {LaneMethod, RequestView} from "../method.ts";
import type {PackedCalls} from "../packedCalls.ts";
import {ParamList} from "../params.ts";
import {
  ADDRESS_PARAM,
  arrayOf,
  BLOCK_PARAM,
  BYTES,
  ETH_KEY_PARAM,
  HASH,
  nullable,
  objectOf,
  QUANTITY,
  STORAGE_KEY_PARAM,
} from "../schema.ts";
import {getProof, packProofCall} from "./getProof.ts";

/** Of a storage key that is read as 32 bytes: 0x and 63 digits. A shorter one is read as a number. */
const LONG_KEY_CHARACTERS = 2 + 63;

export const ETH_PROOF = objectOf({
  address: BYTES,
  accountProof: nullable(arrayOf(BYTES)),
  balance: QUANTITY,
  codeHash: HASH,
  nonce: QUANTITY,
  storageHash: HASH,
  storageProof: arrayOf(objectOf({key: STORAGE_KEY_PARAM, value: QUANTITY, proof: arrayOf(BYTES)})),
});

export const getEthProof: LaneMethod<PackedCalls> = {
  // As long as a proof of chain_getProof, at most: 8 branches with 16 hashes and 20 with two have fewer digits.
  ...getProof,
  name: "eth_getProof",
  summary:
    "Proofs of an account and some of its slots in Ethereum's state trie at a finalized block (EIP-1186), as geth answers.",
  params: new ParamList([
    {name: "address", required: true, schema: ADDRESS_PARAM},
    {name: "storageKeys", required: true, schema: arrayOf(ETH_KEY_PARAM)},
    {name: "block", required: false, schema: nullable(BLOCK_PARAM)},
  ]),
  result: {name: "accountProof", schema: ETH_PROOF},
  prepare(params, view, calls) {
    const [address, keys, block] = this.params.read(this, params);
    addEthCall([address, keys, block ?? "latest"], ProofForm.ETH, view, calls);
  },
};

/** @param params - at least those of PROOF_PARAMS. @throws RpcError */
export function addEthCall(
  params: readonly unknown[],
  form: ProofForm,
  view: RequestView,
  calls: PackedCalls,
): void {
  const {packed, end: start} = calls;
  let end = packProofCall(params, form, view, view.limits.storageKeys, packed, start);
  const keys = params[1] as readonly string[];
  for (const key of keys) packed[end++] = key.length < LONG_KEY_CHARACTERS ? 1 : 0;
  calls.add(end, 1 + keys.length);
}
