/** Calldata of the call that verifies a proof on layer 1 (contracts/src/IProofVerifier.sol), ABI-encoded. */
import {concatBytes} from "../../client/bytes/byteString.ts";
import {decodeHex, encodeHex} from "../../client/bytes/hex.ts";
import {compact} from "../../client/compact/compactProof.ts";
import {type HashSuite, word} from "../../client/hash/hashSuites.ts";
import type {ProofRequest} from "../../client/proof/request.ts";

/** The first four bytes of keccak256 of the signatures. */
const VERIFY_ACCOUNT = ["verifyAccount(bytes32,address,bytes)", "0x6cfc7661"] as const;
const VERIFY_SLOTS = ["verifySlots(bytes32,address,bytes32[],bytes)", "0x00010a99"] as const;

const WORD_BYTES = 32;

/** @param root - the trusted root. @throws ProofError if the answer has no compact form */
export function encodeVerifierCall(suite: HashSuite, root: string, request: ProofRequest, answer: unknown) {
  const {address, storageKeys} = request;
  const proof = compact(suite, request, answer);
  const static_ = [decodeHex(root), word(BigInt(address))];
  if (storageKeys.length === 0)
    return write(VERIFY_ACCOUNT, [...static_, word(3 * WORD_BYTES), encodeBytes(proof)]);
  const slots = [word(storageKeys.length), ...storageKeys.map(key => word(BigInt(key)))];
  const slotsAt = 4 * WORD_BYTES;
  const places = [word(slotsAt), word(slotsAt + WORD_BYTES * slots.length)];
  return write(VERIFY_SLOTS, [...static_, ...places, ...slots, encodeBytes(proof)]);
}

function write([signature, selector]: readonly [string, string], parts: readonly Uint8Array[]) {
  return {signature, calldata: encodeHex(concatBytes(decodeHex(selector), ...parts))};
}

/** ABI encoding of `bytes`: length, bytes, padding to a word. */
function encodeBytes(bytes: Uint8Array): Uint8Array {
  const padding = (WORD_BYTES - (bytes.length % WORD_BYTES)) % WORD_BYTES;
  return concatBytes(word(bytes.length), bytes, new Uint8Array(padding));
}
