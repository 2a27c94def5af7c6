/** Chains that are long or wide enough for an import to take a while. Deterministic; every block changes many accounts. */
import {createHash} from "node:crypto";
import type {AccountDifference, DifferenceLine} from "./differenceLine.ts";

export function blockHash(block: number): string {
  return `0x${createHash("sha256").update(`block ${block}`).digest("hex")}`;
}

export function addressAt(i: number): string {
  return `0x${createHash("sha256").update(`account ${i}`).digest("hex").slice(0, 40)}`;
}

/** Each block has `accountsPerBlock` new accounts and changes as many older ones. Every seventh account has slots. */
export function longChain(blocks: number, accountsPerBlock: number): DifferenceLine[] {
  return Array.from({length: blocks}, (_, block) => {
    const accounts: Record<string, AccountDifference> = {};
    for (let i = 0; i < accountsPerBlock; i++) {
      const made = block * accountsPerBlock + i;
      const storage = {"0x0": "0x1", [`0x${i.toString(16)}`]: `0x${(made + 1).toString(16)}`};
      accounts[addressAt(made)] = {balance: `0x${made.toString(16)}`, ...(i % 7 === 0 ? {storage} : {})};
      if (block > 0)
        accounts[addressAt((made * 7919) % (block * accountsPerBlock))] = {nonce: `0x${block.toString(16)}`};
    }
    return {
      number: `0x${block.toString(16)}`,
      hash: blockHash(block),
      ...(block === 0 ? {} : {parentHash: blockHash(block - 1)}),
      accounts,
    };
  });
}

/** A block 0 of `contracts` accounts, each with 24 KB of its own code and a slot. Pages are written before its last account. */
export function wideBlock(contracts: number): DifferenceLine {
  const accounts: Record<string, AccountDifference> = {};
  for (let i = 0; i < contracts; i++)
    accounts[addressAt(i)] = {
      code: `0x${i.toString(16).padStart(8, "0").repeat(6000)}`,
      storage: {"0x1": "0x1"},
    };
  return {number: "0x0", hash: blockHash(0), accounts};
}
