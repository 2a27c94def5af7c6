/** The contracts in block 0 of the bench store, which gas estimates call: the token and the ledger of the demo. */
import {createHash} from "node:crypto";
import {addressWord, encodeCall} from "../../demo/abi.ts";
import {readContract} from "../../demo/artefact.ts";
import {configOfFork} from "../../evm/execution/forks.ts";
import type {AccountDifferences} from "../../storage/block/accountDifferences.ts";
import type {ChainConfig} from "../../storage/block/blockDifference.ts";
import {keccak256} from "../../storage/hash/keccak.ts";
import {HOLDERS} from "./storeSize.ts";

export const BENCH_CHAIN: ChainConfig = {
  chainId: 424_242n,
  config: JSON.stringify({...configOfFork("osaka"), chainId: 424_242}),
};

export const TOKEN: Buffer = sha256("contract token").subarray(0, 20);
export const LEDGER: Buffer = sha256("contract ledger").subarray(0, 20);
const TOKEN_BALANCE = 10n ** 24n;

const token = readContract("DemoToken");
const ledger = readContract("Ledger");

export function addContracts(allocation: AccountDifferences, addressAt: (i: number) => Uint8Array): void {
  const value = new Uint8Array(Buffer.from(TOKEN_BALANCE.toString(16).padStart(64, "0"), "hex"));
  allocation.add({
    address: TOKEN,
    change: {
      nonce: 1n,
      code: Buffer.from(token.deployedBytecode, "hex"),
      storage: Array.from({length: HOLDERS}, (_, i) => ({slot: balanceSlot(addressAt(i)), value})),
    },
  });
  allocation.add({address: LEDGER, change: {nonce: 1n, code: Buffer.from(ledger.deployedBytecode, "hex")}});
}

export function encodeTransfer(to: Uint8Array, value: bigint): Uint8Array {
  return encodeCall(token, "transfer(address,uint256)", to, value);
}

export function encodeBalanceOf(holder: Uint8Array): Uint8Array {
  return encodeCall(token, "balanceOf(address)", holder);
}

/** A call that sets this many slots for the first time. */
export function encodeFill(slots: bigint): Uint8Array {
  return encodeCall(ledger, "fill(uint256,uint256,uint256)", 0n, slots, 1n);
}

/** `balanceOf` is at slot 0 (demo/contracts/DemoToken.sol). */
export function balanceSlot(holder: Uint8Array): Uint8Array {
  return keccak256(Buffer.concat([addressWord(holder), Buffer.alloc(32)]));
}

/** Addresses, hashes and values that are the same on all machines. */
export function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
