/**
 * Who signed an EIP-7702 authorization. Its nonce and code change even if the transaction fails, and older tracers
 * (geth before July 2025, erigon before August 2025) do not look at it.
 */
import {secp256k1} from "@noble/curves/secp256k1.js";
import {keccak256} from "../../../storage/hash/keccak.ts";
import {toHex} from "../../../storage/hex.ts";
import {encodeList, encodeNumber} from "../../../storage/rlp/rlpWriter.ts";
import {parseFixedBytes, parseObject, parseQuantity} from "../../rpc/answerValues.ts";

/** EIP-7702: the signed message begins with this byte. */
const MAGIC = Buffer.from([5]);

/**
 * @param value - `{chainId, address, nonce, yParity, r, s}`
 * @returns `0x` and 40 digits; undefined if the signature is not valid: then the authorization has no effect
 * @throws NodeFailure if it is no authorization
 */
export function recoverAuthority(value: unknown, field: string): string | undefined {
  const authorization = parseObject(value, field);
  const quantity = (name: string, bits: number): bigint =>
    parseQuantity(authorization[name], `${field}: ${name}`, bits);
  const message = encodeList([
    encodeNumber(quantity("chainId", 256)),
    parseFixedBytes(authorization.address, `${field}: address`, 20),
    encodeNumber(quantity("nonce", 64)),
  ]);
  const parity = Number(quantity("yParity", 8));
  const r = quantity("r", 256);
  const s = quantity("s", 256);
  try {
    const point = new secp256k1.Signature(r, s, parity).recoverPublicKey(
      keccak256(Buffer.concat([MAGIC, message])),
    );
    return toHex(keccak256(point.toBytes(false).subarray(1)).subarray(12));
  } catch {
    return undefined;
  }
}
