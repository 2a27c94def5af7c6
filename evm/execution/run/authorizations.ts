/** EIP-7702: before a transaction runs, sets the delegations that its authorizations ask for. */
import {keccak256} from "../../../storage/hash/keccak.ts";
import {encodeList, encodeNumber} from "../../../storage/rlp/rlpWriter.ts";
import {recoverAddress} from "../../interpreter/ecrecover.ts";
import type {Evm} from "../../interpreter/evm.ts";
import type {Authorization} from "../block/blockTransaction.ts";

/** An authorization and its signer, undefined if the signature is invalid: then the EIP skips it. */
export interface SignedAuthorization extends Authorization {
  /** 20 bytes. */
  readonly authority: Uint8Array | undefined;
}

/** The code of a delegating account is this prefix and an address. */
const DELEGATION = Uint8Array.of(0xef, 0x01, 0x00);
const DELEGATION_BYTES = 23;
const MAX_NONCE = 2n ** 64n - 1n;
/** Prefix of the signed message. */
const MAGIC = Uint8Array.of(0x05);
const WORD_BYTES = 32;
const NO_CODE = new Uint8Array(0);
/** Refunded for an account that exists: the intrinsic gas pays for a new one. */
const REFUND = 12_500n;

export function recoverAuthority(authorization: Authorization): Uint8Array | undefined {
  const {chainId, address, nonce, yParity, r, s} = authorization;
  if (nonce >= MAX_NONCE || yParity > 1n) return undefined;
  const signed = encodeList([encodeNumber(chainId), address, encodeNumber(nonce)]);
  const rs = new Uint8Array(2 * WORD_BYTES);
  for (const [end, number] of [
    [WORD_BYTES, encodeNumber(r)],
    [2 * WORD_BYTES, encodeNumber(s)],
  ] as const)
    rs.set(number, end - number.length);
  return recoverAddress(keccak256(Buffer.concat([MAGIC, signed])), rs, yParity === 1n);
}

/** Call it after the sender's nonce was incremented. */
export function applyAuthorizations(
  evm: Evm,
  authorizations: readonly SignedAuthorization[],
  chainId: bigint,
): void {
  for (const {authority, chainId: signedFor, address, nonce} of authorizations) {
    if (authority === undefined || (signedFor !== 0n && signedFor !== chainId)) continue;
    evm.warmAddress(authority);
    const code = evm.readCode(authority);
    if (code.length > 0 && delegateOf(code) === undefined) continue;
    if (evm.readNonce(authority) !== nonce) continue;
    if (evm.exists(authority)) evm.addRefund(REFUND);
    evm.writeNonce(authority, nonce + 1n);
    const clears = address.every(byte => byte === 0);
    evm.writeCode(authority, clears ? NO_CODE : Buffer.concat([DELEGATION, address]));
  }
}

/** @returns the address that the code delegates to; undefined if it is not a delegation */
export function delegateOf(code: Uint8Array): Uint8Array | undefined {
  const delegates = code.length === DELEGATION_BYTES && DELEGATION.every((byte, at) => code[at] === byte);
  return delegates ? code.subarray(DELEGATION.length) : undefined;
}
