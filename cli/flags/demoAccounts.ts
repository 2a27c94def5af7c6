/** The accounts of the built-in demo chain. A load asks for them if the server serves that chain and no others are named. */
import {readFileSync} from "node:fs";
import type {KnownAccount} from "proofd-load";
import {padSlot} from "./keyLines.ts";

const GENESIS = new URL(import.meta.resolve("#package/demo/genesis.json"));
const ADDRESSES = new URL(import.meta.resolve("#package/demo/addresses.json"));

interface Allocation {
  readonly storage?: Readonly<Record<string, string>>;
  readonly code?: string;
}

interface Addresses {
  readonly chainId: number;
  readonly token: {
    readonly address: string;
    readonly holderBalanceSlot: string;
    readonly totalSupplySlot: string;
  };
  readonly ledger: {readonly address: string; readonly firstSlot: string; readonly slots: number};
}

export function readDemoChainId(): number {
  return readAddresses().chainId;
}

/** Every account of the chain's genesis, and the two contracts with storage, which exist from block 22 on. */
export function readDemoAccounts(): KnownAccount[] {
  const {alloc} = JSON.parse(readFileSync(GENESIS, "utf8")) as {alloc: Record<string, Allocation>};
  const accounts = Object.entries(alloc).map(([address, {storage, code}]) => ({
    address: address.toLowerCase(),
    // A contract without slots would be taken for an account that can pay, so it gets one slot.
    slots: Object.keys(storage ?? (code === undefined ? {} : {"0x0": ""})).map(padSlot),
  }));
  const {token, ledger} = readAddresses();
  const first = BigInt(ledger.firstSlot);
  return [
    ...accounts,
    {address: token.address, slots: [token.holderBalanceSlot, token.totalSupplySlot].map(padSlot)},
    {
      address: ledger.address,
      slots: Array.from({length: ledger.slots}, (_, i) => padSlot(`0x${(first + BigInt(i)).toString(16)}`)),
    },
  ];
}

function readAddresses(): Addresses {
  return JSON.parse(readFileSync(ADDRESSES, "utf8")) as Addresses;
}
