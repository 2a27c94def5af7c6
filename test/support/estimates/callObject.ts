/** The parameters of chain_estimateGas and eth_estimateGas as a client writes them. */

export interface CallObject {
  readonly from?: string;
  readonly to?: string;
  readonly gas?: string;
  readonly gasPrice?: string;
  readonly maxFeePerGas?: string;
  readonly maxPriorityFeePerGas?: string;
  readonly value?: string;
  readonly data?: string;
  readonly nonce?: string;
  readonly accessList?: readonly {readonly address: string; readonly storageKeys: readonly string[]}[];
  readonly authorizationList?: readonly AuthorizationObject[];
}

export interface AuthorizationObject {
  readonly chainId: string;
  readonly address: string;
  readonly nonce: string;
  readonly yParity: string;
  readonly r: string;
  readonly s: string;
}

/** By address. */
export type Overrides = Readonly<Record<string, OverrideObject>>;

interface OverrideObject {
  readonly balance?: string;
  readonly nonce?: string;
  readonly code?: string;
  readonly state?: Readonly<Record<string, string>>;
  readonly stateDiff?: Readonly<Record<string, string>>;
}
