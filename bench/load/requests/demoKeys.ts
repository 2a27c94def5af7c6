/** The built-in demo chain's accounts: what a load asks for where the server serves that chain and nothing else is said. */
import {readFileSync} from "node:fs";
import {type KnownAccount, padSlot} from "./keys.ts";

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

/** Every account of its genesis, and the two contracts with storage: those are there from block 22 on. */
export function readDemoAccounts(): KnownAccount[] {
  const {alloc} = JSON.parse(readFileSync(GENESIS, "utf8")) as {alloc: Record<string, Allocation>};
  const accounts = Object.entries(alloc).map(([address, {storage, code}]) => ({
    address: address.toLowerCase(),
    // A contract without slots of its own would be taken for someone who pays: it gets one.
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
