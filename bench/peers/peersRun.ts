/**
 * Runs the same loads against proofd and anvil and, with eth_getProof and eth_call, against geth and a proofd that has
 * followed it.
 *
 *   for each load:  proofd | anvil, proofd | anvil, ...    alternating rounds, whose median counts
 *
 * The speed of a shared machine changes from minute to minute, so compare only figures within one table. CPU time is
 * that of the server's process in the measured time, divided by the number of answers.
 */
import {readOrigin, writeOrigin} from "../program/runFile.ts";
import {type ServerProcess, startProofd} from "../program/serverProcess.ts";
import {writeNumber} from "../program/table.ts";
import {findAnvil} from "./anvil.ts";
import {type PeerFigures, runLoad, writeReport} from "./comparison.ts";
import {findGeth, GethChain} from "./gethChain.ts";
import type {PeerFlags} from "./peerFlags.ts";
import {ETH_LOAD_NAMES, type LoadName, listLoads, type PeerLoad, type PeerName} from "./peerLoads.ts";
import {
  listBalanceCalls,
  listSlotAccounts,
  listTokenTransfers,
  makePeerStore,
  startPeerAnvil,
} from "./peerStore.ts";

export async function comparePeers(flags: PeerFlags, command: string): Promise<readonly PeerFigures[]> {
  const {accounts, blocks, only, servers: names} = flags;
  const heading = `${writeOrigin(readOrigin())}; ${command}`;
  say(`${heading}\n`);
  const geth = names.includes("geth") ? findGeth() : undefined;
  const loads = listLoads(
    flags,
    listSlotAccounts(accounts),
    listTokenTransfers(),
    listBalanceCalls,
    geth === undefined ? 0 : 50,
  );
  const ofTries = (name: LoadName) => (ETH_LOAD_NAMES as readonly string[]).includes(name);
  const figures: PeerFigures[] = [];
  const others = only.filter(name => !ofTries(name));
  const startWithBenchStore = async (names: readonly PeerName[]) =>
    startServers(await makePeerStore(accounts, blocks), {accounts, servers: names});
  if (others.length > 0)
    figures.push(...(await measure(flags, loads, others, await startWithBenchStore(names))));
  const tries = only.filter(ofTries);
  if (tries.length > 0) {
    if (names.includes("geth") && geth === undefined) say("GETH IS NOT INSTALLED: its rows are left out\n");
    const servers =
      geth === undefined
        ? await startWithBenchStore(names)
        : await startOfGeth(await GethChain.openOrCreate(geth, accounts, blocks), flags);
    figures.push(...(await measure(flags, loads, tries, servers)));
  }
  process.stdout.write(`\n${heading}, ${accounts} accounts\n\n${writeReport(figures)}\n`);
  return figures;
}

/** Measures, then stops the servers. */
async function measure(
  {rounds, duration, warmUp}: PeerFlags,
  loads: Readonly<Record<LoadName, PeerLoad>>,
  names: readonly LoadName[],
  servers: Map<PeerName, ServerProcess>,
): Promise<PeerFigures[]> {
  const figures: PeerFigures[] = [];
  try {
    for (const name of names) {
      const load = loads[name];
      await requireSameAnswer(load, servers);
      const taken = new Map<PeerName, PeerFigures[]>();
      for (let round = 1; round <= rounds; round++) {
        for (const [peer, server] of servers) {
          const choice = load.choices[peer];
          if (choice === undefined) continue;
          const seconds = {durationSeconds: duration, warmUpSeconds: warmUp};
          const run = await runLoad(name, load, peer, server, {...choice, ...seconds, seed: round});
          const rate = `${writeNumber(run.unitsPerSecond)} ${load.unit}s/s`;
          say(`${load.title}, round ${round} of ${rounds}: ${peer} ${rate}\n`);
          taken.set(peer, [...(taken.get(peer) ?? []), run]);
        }
      }
      for (const runs of taken.values()) {
        runs.sort((a, b) => a.unitsPerSecond - b.unitsPerSecond);
        figures.push(runs[runs.length >> 1] as PeerFigures);
      }
    }
    return figures;
  } finally {
    await Promise.all([...servers.values()].map(server => server.stop()));
  }
}

/** @throws Error if the servers answer the first call differently */
async function requireSameAnswer(
  {title, choices}: PeerLoad,
  servers: Map<PeerName, ServerProcess>,
): Promise<void> {
  const answers = new Set<unknown>();
  for (const [peer, server] of servers) {
    const {estimateMethod, estimateParams: [params] = []} = choices[peer] ?? {};
    if (estimateMethod === undefined || params === undefined) continue;
    answers.add(await server.call(estimateMethod, JSON.parse(params)));
  }
  if (answers.size > 1) throw new Error(`${title}: the servers' answers differ: ${[...answers].join(", ")}`);
}

/** proofd and anvil. */
async function startServers(
  store: string,
  {accounts, servers}: Pick<PeerFlags, "accounts" | "servers">,
): Promise<Map<PeerName, ServerProcess>> {
  const started = new Map<PeerName, ServerProcess>();
  if (servers.includes("proofd")) started.set("proofd", await startProofd(store));
  if (servers.includes("anvil") && findAnvil() === undefined)
    say("ANVIL IS NOT INSTALLED: its rows are left out\n");
  else if (servers.includes("anvil")) started.set("anvil", await startPeerAnvil(accounts));
  return started;
}

async function startOfGeth(chain: GethChain, flags: PeerFlags): Promise<Map<PeerName, ServerProcess>> {
  const geth = await chain.start();
  try {
    const followed = await chain.follow(geth);
    if (followed !== undefined) {
      const {blocksPerSecond, proofdMs, gethMs} = followed;
      const [perSecond = "", own = "", node = ""] = [blocksPerSecond, proofdMs, gethMs].map(writeNumber);
      process.stdout.write(
        `proofd follows geth by traces: ${perSecond} blocks/s; CPU time per block: proofd ${own} ms, geth ${node} ms\n`,
      );
    }
    return (await startServers(chain.store, flags)).set("geth", geth);
  } catch (error) {
    await geth.stop();
    throw error;
  }
}

/** Writes progress to standard error. Standard output has only the figures. */
function say(text: string): void {
  process.stderr.write(text);
}
