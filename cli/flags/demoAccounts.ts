/** The accounts of the built-in demo chain. A load asks for them if the server serves that chain and no others are named. */
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

/** Its id, every account of its genesis, and the two contracts with storage, which exist from block 22 on. */
export function readDemo(): {readonly chainId: number; readonly accounts: readonly KnownAccount[]} {
  const {alloc} = readJson<{alloc: Record<string, Allocation>}>("genesis.json");
  const {chainId, token, ledger} = readJson<Addresses>("addresses.json");
  const first = BigInt(ledger.firstSlot);
  const slots = Array.from({length: ledger.slots}, (_, i) =>
    padSlot(`0x${(first + BigInt(i)).toString(16)}`),
  );
  const accounts = Object.entries(alloc).map(([address, {storage, code}]) => ({
    address: address.toLowerCase(),
    // A contract without slots would be taken for an account that can pay, so it gets one slot.
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
