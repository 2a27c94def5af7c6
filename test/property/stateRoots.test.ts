/** The state root of every header against what sources say of the blocks: all of it gives that root, and less or else does not. */
import assert from "node:assert/strict";
import {rm, writeFile} from "node:fs/promises";
import {join} from "node:path";
import {test} from "node:test";
import fc from "fast-check";
import type {ImportOutcome} from "../../workers/messages/importJob.ts";
import {type DifferenceLine, encodeLines} from "../support/chains/differenceLine.ts";
import {headLines} from "../support/chains/headedLines.ts";
import {randomChains} from "../support/chains/randomBlocks.ts";
import {propertyRuns, sameExamples} from "../support/soak.ts";
import {importSource} from "../support/stores/importedStore.ts";
import {makeTemporaryFolder} from "../support/temporaryFolder.ts";

const RUNS = propertyRuns(15);

const folder = makeTemporaryFolder();
let stores = 0;

async function importAll(lines: readonly DifferenceLine[]): Promise<ImportOutcome> {
  const db = join(folder, `${++stores}.db`);
  const path = `${db}.ndjson`;
  await writeFile(path, encodeLines(lines));
  const outcome = await importSource(db, {kind: "diffs", path});
  await rm(db, {recursive: true});
  return outcome;
}

/** The lines without what cannot be on a chain: a nonce that falls, or an account that has one and no code, and is made again. */
function possible(lines: readonly DifferenceLine[]): DifferenceLine[] {
  const held = new Map<string, {nonce: bigint; hasCode: boolean}>();
  return lines.map(line => {
    const changes = Object.entries(line.accounts).map(([name, change]) => {
      const address = name.toLowerCase();
      if (change === null) {
        held.delete(address);
        return [name, null] as const;
      }
      const {reset, ...rest} = change;
      const stored = held.get(address) ?? {nonce: 0n, hasCode: false};
      const isReset = reset === true && (stored.hasCode || stored.nonce === 0n);
      const before = isReset ? {nonce: 0n, hasCode: false} : stored;
      const nonce = BigInt(rest.nonce ?? before.nonce);
      if (nonce < before.nonce) delete rest.nonce;
      const hasCode = rest.code === undefined ? before.hasCode : rest.code !== "0x";
      held.set(address, {nonce: nonce < before.nonce ? before.nonce : nonce, hasCode});
      return [name, isReset ? {...rest, reset} : rest] as const;
    });
    return {...line, accounts: Object.fromEntries(changes)};
  });
}

/** Leaves one account out, one slot, or adds 1 to one balance. @returns undefined if the line has no such thing */
function spoil(
  line: DifferenceLine,
  kind: "account" | "slot" | "balance",
  at: number,
): DifferenceLine | undefined {
  const spoiled = structuredClone(line);
  const names = Object.keys(spoiled.accounts).filter(name => {
    if (kind === "account") return true;
    const account = spoiled.accounts[name];
    return kind === "slot" ? Object.keys(account?.storage ?? {}).length > 0 : account?.balance !== undefined;
  });
  const name = names[at % names.length];
  if (name === undefined) return undefined;
  const account = spoiled.accounts[name];
  if (kind === "account") delete spoiled.accounts[name];
  else if (kind === "slot") {
    const slots = Object.keys(account?.storage ?? {});
    delete account?.storage?.[slots[at % slots.length] as string];
  } else if (account) account.balance = `0x${(BigInt(account.balance ?? 0) ^ 1n).toString(16)}`;
  return spoiled;
}

test("the changes of random chains give the roots of their headers, and any that change the state are missed", async () => {
  let refused = 0;
  const kinds = fc.constantFrom("account", "slot", "balance");
  const inputs = [randomChains({maxBlocks: 6}), fc.nat(), kinds, fc.nat()] as const;
  await fc.assert(
    fc.asyncProperty(...inputs, async (chain, block, kind, at) => {
      const sound = possible(chain.lines);
      const {lines, headers} = await headLines(sound);
      const whole = await importAll(lines);
      assert.ok(whole.ok, JSON.stringify(whole));
      const number = block % lines.length;
      const spoiled = spoil(lines[number] as DifferenceLine, kind, at);
      if (spoiled === undefined) return;
      const {header: _, ...bare} = spoiled;
      const given = (await headLines([...sound.slice(0, number), bare])).headers[number]?.stateRoot;
      const outcome = await importAll([...lines.slice(0, number), spoiled]);
      assert.equal(outcome.ok, given === headers[number]?.stateRoot);
      if (outcome.ok) return;
      refused++;
      const what = `block ${number}: expected state root ${headers[number]?.stateRoot} as in its header, its changes give ${given}`;
      assert.ok(outcome.message.startsWith(`line ${number + 1}: ${what}`), outcome.message);
      assert.equal(outcome.head.latest, number === 0 ? undefined : number - 1);
    }),
    {numRuns: RUNS, examples: sameExamples(fc.tuple(...inputs), 5)},
  );
  assert.ok(refused > RUNS / 10, `${refused} of ${RUNS}`);
});
