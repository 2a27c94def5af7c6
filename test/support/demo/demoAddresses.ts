/** Addresses and slots of the demo chain that are worth a proof. */
import {generateAddress2} from "@ethereumjs/util";
import {keccak_256} from "@noble/hashes/sha3.js";
import {word} from "../../../client/hash/hashSuites.ts";
import {addressWord} from "../../../demo/abi.ts";
import {toHex} from "../../../storage/hex.ts";
import {type Cast, encodeCreation, VAULT} from "./cast.ts";
import {hashLabel, makeAddress} from "./demoAccount.ts";
import {DEMO_CHAIN_ID, oldLedger} from "./demoGenesis.ts";

export function describeAddresses(cast: Cast, lastBlock: number): string {
  const holder = cast.resident(20).address;
  const allowance = mappingSlot(cast.resident(11).address, mappingSlot(cast.resident(10).address, word(1n)));
  const vault = generateAddress2(cast.factory, word(4n), encodeCreation(VAULT, 4n));
  const at = (address: Uint8Array, facts: object = {}): object => ({address: toHex(address), ...facts});
  const addresses = {
    chainId: DEMO_CHAIN_ID,
    lastBlock,
    account: at(holder),
    token: at(cast.token, {
      holder: toHex(holder),
      holderBalanceSlot: toHex(balanceSlot(holder)),
      totalSupplySlot: toHex(word(2n)),
      clearedSlot: toHex(allowance),
      clearedIn: 60,
    }),
    ledger: at(cast.ledger, {firstSlot: toHex(word(0n)), slots: 1000}),
    oldLedger: at(oldLedger, {clearedSlot: toHex(word(2n)), clearedIn: 34}),
    vault: at(vault, {createdIn: 30}),
    deleted: at(cast.ephemeral(1n), {createdIn: 35, deletedIn: 45}),
    recreated: at(cast.ephemeral(2n), {createdIn: 35, resetIn: 46}),
    emptied: at(cast.piggyBank, {selfDestructIn: 52}),
    delegated: at(cast.resident(5).address, {from: 62, until: 75}),
    withdrawal: at(makeAddress("validator 40"), {createdIn: 40}),
    absent: at(makeAddress("nobody")),
    absentKey: toHex(hashLabel("no slot")),
  };
  return `${JSON.stringify(addresses, null, 2)}\n`;
}

/** Where Solidity keeps `mapping[key]`. */
function mappingSlot(key: Uint8Array, slot: Uint8Array): Uint8Array {
  return keccak_256(new Uint8Array(Buffer.concat([addressWord(key), slot])));
}

/** The slot of a holder in DemoToken's `balanceOf`. */
export function balanceSlot(holder: Uint8Array): Uint8Array {
  return mappingSlot(holder, word(0n));
}
