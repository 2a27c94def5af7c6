/** What `proofd verify` prints: sentences, or one line of JSON. */
import {encodeHex, quantity} from "../../client/bytes/hex.ts";
import {count} from "../../client/bytes/values.ts";
import type {ProofError} from "../../client/proof/proofError.ts";
import type {Proven, ProvenAccount} from "../../client/proof/proofVerifier.ts";
import type {ProofRequest} from "../../client/proof/request.ts";
import type {TrustedRoot} from "./rootSource.ts";

export interface JudgedEntry {
  readonly asked: ProofRequest;
  readonly proven: Proven;
}

/** A line for each account and slot, and a last one with the verdict. */
export function writeVerdict(entries: readonly JudgedEntry[], {root, by}: TrustedRoot): string {
  const lines: string[] = [];
  let slotCount = 0;
  for (const {asked, proven} of entries) {
    lines.push(`account ${asked.address} ${describeAccount(proven.account)}`);
    for (const [i, key] of asked.storageKeys.entries()) {
      const value = proven.slots[i];
      lines.push(
        value === undefined ? `slot ${key} is absent: its value is 0` : `slot ${key} = ${quantity(value)}`,
      );
      slotCount++;
    }
  }
  const slots = slotCount === 0 ? "" : ` and ${count(slotCount, "slot")}`;
  lines.push(
    `VERIFIED: ${count(entries.length, "account")}${slots} under the root ${encodeHex(root)}, ${by}`,
  );
  return `${lines.join("\n")}\n`;
}

/** Accounts and slots that are absent have no `account` or `value`. */
export function encodeVerdict(entries: readonly JudgedEntry[], {root}: TrustedRoot): string {
  const verdict = {
    verified: true,
    root: encodeHex(root),
    entries: entries.map(({asked, proven}) => ({
      address: asked.address,
      exists: proven.account !== undefined,
      ...(proven.account !== undefined && {account: encodeAccountFields(proven.account)}),
      slots: asked.storageKeys.map((key, i) => {
        const value = proven.slots[i];
        return {key, exists: value !== undefined, ...(value !== undefined && {value: quantity(value)})};
      }),
    })),
  };
  return `${JSON.stringify(verdict)}\n`;
}

export function writeRefusal({at, rule}: ProofError): string {
  return `REFUSED: ${at}: ${rule}\n`;
}

export function encodeRefusal({at, rule}: ProofError): string {
  return `${JSON.stringify({verified: false, at, rule})}\n`;
}

function describeAccount(account: ProvenAccount | undefined): string {
  if (account === undefined) return "is absent";
  const {nonce, balance, storageRoot, codeHash, keccakCodeHash, codeSize} = account;
  return (
    `is present: nonce ${nonce}, balance ${balance}, storageRoot ${storageRoot}, codeHash ${codeHash}, ` +
    `keccakCodeHash ${keccakCodeHash}, codeSize ${codeSize}`
  );
}

function encodeAccountFields({leafIndex, nonce, balance, codeSize, ...hashes}: ProvenAccount): object {
  return {
    leafIndex,
    nonce: quantity(nonce),
    balance: quantity(balance),
    codeSize: quantity(codeSize),
    ...hashes,
  };
}
