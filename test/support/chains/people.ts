/** The accounts that sign the transactions of tests' chains, with the nonces of what they signed. */
import {createHash} from "node:crypto";
import type {Common} from "@ethereumjs/common";
import {type Blob4844Tx, createTx} from "@ethereumjs/tx";
import {
  Address,
  eoaCode7702SignAuthorization,
  type PrefixedHexString,
  privateToAddress,
} from "@ethereumjs/util";
import {toHex} from "../../../storage/hex.ts";

const GAS_LIMIT = 500_000n;
const GAS_PRICE = 1_000_000_000n;
const BYTES_PER_BLOB = 131_072;
const CELLS_PER_BLOB = 128;
const OSAKA = "osaka";
/** The point at infinity in BLS12-381's G1, compressed. It commits to the polynomial zero, and proves all its values. */
const INFINITY = `0xc0${"00".repeat(47)}` as const;

/** They sign transactions and authorizations, and have 1000 ether each. */
export const KEYS: readonly Uint8Array[] = [7, 8, 9].map(byte => new Uint8Array(32).fill(byte));
export const PEOPLE: readonly string[] = KEYS.map(key => toHex(privateToAddress(key)));

export interface Sent {
  /** Position in KEYS. Default: 0. */
  readonly from?: number;
  /** undefined: a creation. */
  readonly to?: string;
  readonly data?: Uint8Array;
  readonly value?: bigint;
  readonly gas?: bigint;
  /** Authorizations (EIP-7702): the position of the signer in KEYS, and to which code it delegates; the zero address ends it. */
  readonly delegations?: readonly {readonly by: number; readonly to: string}[];
  /** How many blobs (EIP-4844) it has. They are of zeros. */
  readonly blobs?: number;
}

export class People {
  readonly nonces: bigint[] = KEYS.map(() => 0n);

  constructor(private readonly chainId: bigint) {}

  /** @param common - of the block's fork. @returns the transaction as eth_sendRawTransaction takes it, blobs included */
  sign(sent: Sent, common: Common): string {
    const {from = 0, to, data, value = 0n, gas = GAS_LIMIT, delegations = [], blobs = 0} = sent;
    const nonce = this.nonces[from] as bigint;
    this.nonces[from] = nonce + 1n;
    const call = {
      nonce,
      gasLimit: gas,
      value,
      ...(to !== undefined && {to: to as PrefixedHexString}),
      ...(data && {data}),
    };
    const fees = {maxFeePerGas: GAS_PRICE, maxPriorityFeePerGas: GAS_PRICE, chainId: this.chainId};
    const key = KEYS[from] as Uint8Array;
    if (blobs > 0) {
      const fields = {...call, ...fees, ...makeBlobs(blobs), type: 3, maxFeePerBlobGas: GAS_PRICE};
      // Under any fork: the form of the blobs is not part of the block.
      const latest = common.copy();
      latest.setHardfork(OSAKA);
      const transaction = createTx(fields, {common: latest}).sign(key);
      return toHex((transaction as Blob4844Tx).serializeNetworkWrapper());
    }
    const transaction =
      delegations.length === 0
        ? createTx({...call, type: 0, gasPrice: GAS_PRICE}, {common})
        : createTx({...call, ...fees, type: 4, authorizationList: this.authorize(delegations)}, {common});
    return toHex(transaction.sign(key).serialize());
  }

  /** What is sent by this address, if it is one of PEOPLE, was not signed here. */
  noteNonce(address: string): void {
    const at = PEOPLE.indexOf(address);
    if (at >= 0) this.nonces[at] = (this.nonces[at] as bigint) + 1n;
  }

  private authorize(delegations: NonNullable<Sent["delegations"]>) {
    return delegations.map(({by, to}) => {
      const nonce = this.nonces[by] as bigint;
      this.nonces[by] = nonce + 1n;
      const code = new Address(Buffer.from(to.slice(2), "hex")).bytes;
      return eoaCode7702SignAuthorization(
        [numberBytes(this.chainId), code, numberBytes(nonce)],
        KEYS[by] as Uint8Array,
      );
    });
  }
}

/** With cell proofs (EIP-7594), which geth's pool asks for before osaka too. */
function makeBlobs(count: number) {
  const hash = createHash("sha256")
    .update(Buffer.from(INFINITY.slice(2), "hex"))
    .digest("hex");
  const repeat = <Value>(value: Value, times = count): Value[] => Array.from({length: times}, () => value);
  return {
    networkWrapperVersion: 1,
    blobs: repeat(`0x${"00".repeat(BYTES_PER_BLOB)}` as const),
    kzgCommitments: repeat(INFINITY),
    kzgProofs: repeat(INFINITY, count * CELLS_PER_BLOB),
    blobVersionedHashes: repeat(`0x01${hash.slice(2)}` as const),
  };
}

function numberBytes(value: bigint): Uint8Array {
  const hex = value.toString(16);
  return value === 0n
    ? new Uint8Array(0)
    : Buffer.from(hex.padStart(hex.length + (hex.length % 2), "0"), "hex");
}
