/** The accounts of the built-in demo chain: the default keys of a load on a server of that chain. */
import {readFileSync} from "node:fs";
import type {KnownAccount} from "proofd-load";
import {padSlot} from "./keyLines.ts";

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

/** @returns every account of the genesis, and the two contracts with storage, which exist from block 22 on */
export function readDemo(): {readonly chainId: number; readonly accounts: readonly KnownAccount[]} {
  const {alloc} = readJson<{alloc: Record<string, Allocation>}>("genesis.json");
  const {chainId, token, ledger} = readJson<Addresses>("addresses.json");
  const first = BigInt(ledger.firstSlot);
  const slots = Array.from({length: ledger.slots}, (_, i) =>
    padSlot(`0x${(first + BigInt(i)).toString(16)}`),
  );
  const accounts = Object.entries(alloc).map(([address, {storage, code}]) => ({
    address: address.toLowerCase(),
    // A load sends transfers from accounts without slots, so a contract without storage gets one.
    slots: Object.keys(storage ?? (code === undefined ? {} : {"0x0": ""})).map(padSlot),
  }));
  accounts.push(
    {address: token.address, slots: [token.holderBalanceSlot, token.totalSupplySlot].map(padSlot)},
    {address: ledger.address, slots},
  );
  return {chainId, accounts};
}

function readJson<Content>(name: string): Content {
  return JSON.parse(readFileSync(new URL(import.meta.resolve(`#package/demo/${name}`)), "utf8")) as Content;
}
