/**
 * Recovers the signer of a clique block (EIP-225). The extra data end with the signature, r 32 | s 32 | v 1, over the
 * hash of the header without it.
 */
import {keccak256} from "../../../storage/hash/keccak.ts";
import {RlpError, type RlpReader} from "../../../storage/rlp/rlpReader.ts";
import {encodeList} from "../../../storage/rlp/rlpWriter.ts";
import {ecrecover} from "../../interpreter/ecrecover.ts";

const EXTRA_DATA = 12;
const SEAL_BYTES = 65;
/** An address is the last 20 bytes of the public key's hash. */
const HASH_HEAD_BYTES = 12;

/** @param fields - the fields of the header, positioned at the first. @throws RlpError */
export function readCliqueSigner(fields: RlpReader): Uint8Array {
  const header: Uint8Array[] = [];
  while (!fields.isDone) header.push(fields.readBytes());
  const extraData = header[EXTRA_DATA] ?? new Uint8Array(0);
  const sealAt = extraData.length - SEAL_BYTES;
  if (sealAt < 0) throw new RlpError("its extra data is too short for a clique signature");
  header[EXTRA_DATA] = extraData.subarray(0, sealAt);
  const seal = extraData.subarray(sealAt);
  try {
    const v = BigInt(seal[SEAL_BYTES - 1] as number);
    const key = ecrecover(keccak256(encodeList(header)), v, seal.subarray(0, 32), seal.subarray(32, 64));
    return keccak256(key).subarray(HASH_HEAD_BYTES);
  } catch (error) {
    throw new RlpError("its clique signature is invalid", {cause: error});
  }
}
