/**
 * EIP-7702: before the call runs, sets the code of the accounts whose owners signed for it.
 */
import {Account, type Address, bigIntToUnpaddedBytes, eoaCode7702RecoverAuthority} from "@ethereumjs/util";
import type {Authorization} from "../../job/estimateCall.ts";
import type {Deadline} from "../call/deadline.ts";
import type {BoundedEvm} from "./boundedEvm.ts";
import type {CallState} from "./callState.ts";

/** An authorization and its signer. Without a signer it is invalid by the EIP, so it is skipped. */
export interface SignedAuthorization extends Authorization {
  readonly authority: Address | undefined;
}

/** The code of an account that delegates is this prefix and an address. */
const DELEGATION_PREFIX = Uint8Array.of(0xef, 0x01, 0x00);
const MAX_NONCE = 2n ** 64n - 1n;
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/** Recovers the signers, once for all runs of a call. @throws TimeLimitError */
export function recoverAuthorities(
  authorizations: readonly Authorization[],
  deadline: Deadline,
): SignedAuthorization[] {
  return authorizations.map(authorization => {
    deadline.check();
    return {...authorization, authority: recoverAuthority(authorization)};
  });
}

/**
 * Called after the sender's nonce has risen. The refund for accounts that exist already is not counted: refunds come after the
 * execution, so they lower no gas limit.
 */
export async function applyAuthorizations(
  authorizations: readonly SignedAuthorization[],
  chainId: bigint,
  state: CallState,
  evm: BoundedEvm,
): Promise<void> {
  for (const {authority, chainId: signedFor, address, nonce} of authorizations) {
    if (authority === undefined || (signedFor !== 0n && signedFor !== chainId)) continue;
    evm.journal.addAlwaysWarmAddress(authority.toString());
    const account = (await state.getAccount(authority)) ?? new Account();
    const code = await state.getCode(authority);
    if (code.length > 0 && !isDelegation(code)) continue;
    if (account.nonce !== nonce) continue;
    account.nonce++;
    await state.putAccount(authority, account);
    const clears = address.every(byte => byte === 0);
    await state.putCode(authority, clears ? new Uint8Array(0) : Buffer.concat([DELEGATION_PREFIX, address]));
  }
}

function isDelegation(code: Uint8Array): boolean {
  return DELEGATION_PREFIX.every((byte, at) => code[at] === byte);
}

function recoverAuthority({chainId, address, nonce, yParity, r, s}: Authorization): Address | undefined {
  if (nonce >= MAX_NONCE || yParity > 1n || s > HALF_ORDER) return undefined;
  try {
    const [chainIdBytes, nonceBytes, parityBytes, rBytes, sBytes] = [chainId, nonce, yParity, r, s].map(
      bigIntToUnpaddedBytes,
    ) as [Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array];
    return eoaCode7702RecoverAuthority([chainIdBytes, address, nonceBytes, parityBytes, rBytes, sBytes]);
  } catch {
    // The signature is no point of the curve. The EIP skips such an authorization.
    return undefined;
  }
}
