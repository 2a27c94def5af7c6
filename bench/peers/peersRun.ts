/**
 * The same generator asks proofd, the naive server and anvil the same, one after the other.
 *
 *   for each load:  proofd | naive | anvil, proofd | naive | anvil, ...    rounds in turn; the middle one counts
 *
 * The machine's speed changes from minute to minute, so compare only figures within one table. CPU time is that of the
 * server's process in the measured time, all threads, divided by the number of answers.
 */
import {availableParallelism} from "node:os";
import {join} from "node:path";
import {BENCH_FOLDER, readOrigin, writeOrigin} from "../program/runFile.ts";
import {ANNOUNCEMENT, type ServerProcess, startProofd, startServer} from "../program/serverProcess.ts";
import {writeNumber} from "../program/table.ts";
import {findAnvil} from "./anvil.ts";
import {middleRound, type PeerFigures, runLoad, writeReport} from "./comparison.ts";
import {makeNaiveStore} from "./naiveStore.ts";
import {type LoadName, listLoads, type PeerLoad, type PeerName} from "./peerLoads.ts";
import {listSlotAccounts, listTokenTransfers, makePeerStore, startPeerAnvil} from "./peerStore.ts";

/** Commander's values, by flag. */
export interface PeerFlags {
  readonly accounts: number;
  /** Of history after block 0. */
  readonly blocks: number;
  /** Seconds. */
  readonly duration: number;
  /** Seconds. */
  readonly warmUp: number;
  readonly rounds: number;
  readonly only: readonly LoadName[];
  readonly servers: readonly PeerName[];
}

/** @param command - the command line that repeats this run. @returns what it has printed: the middle round of each load and server */
export async function comparePeers(flags: PeerFlags, command: string): Promise<readonly PeerFigures[]> {
  const {accounts, blocks, rounds, only, servers: peerNames} = flags;
  const heading = `${writeOrigin(readOrigin())}; ${command}`;
  say(`${heading}\n`);

  const store = await makePeerStore(accounts, blocks);
  const naiveStore = join(BENCH_FOLDER, `naive-${accounts}-${blocks}-v2`);
  if (peerNames.includes("naive")) await makeNaiveStore(store, naiveStore);
  const servers = await startServers(flags, store, naiveStore);
  const loads = listLoads(accounts, listSlotAccounts(accounts), listTokenTransfers());
  const figures: PeerFigures[] = [];
  try {
    for (const [name, load] of Object.entries(loads) as [LoadName, PeerLoad][]) {
      if (!only.includes(name)) continue;
      const taken = new Map<PeerName, PeerFigures[]>();
      for (let round = 1; round <= rounds; round++) {
        for (const [peer, server] of servers) {
          const choice = load.choices[peer];
          if (choice === undefined) continue;
          const seconds = {durationSeconds: flags.duration, warmUpSeconds: flags.warmUp};
          const run = await runLoad(name, load, peer, server, {...choice, ...seconds, seed: round});
          const rate = `${writeNumber(run.unitsPerSecond)} ${load.unit}s/s`;
          say(`${load.title}, round ${round} of ${rounds}: ${peer} ${rate}\n`);
          taken.set(peer, [...(taken.get(peer) ?? []), run]);
        }
      }
      figures.push(...[...taken.values()].map(middleRound));
    }
  } finally {
    await Promise.all([...servers.values()].map(server => server.stop()));
  }
  process.stdout.write(`\n${heading}, ${accounts} accounts\n\n${writeReport(figures)}\n`);
  return figures;
}

async function startServers(
  {accounts, servers: peerNames}: PeerFlags,
  store: string,
  naiveStore: string,
): Promise<Map<PeerName, ServerProcess>> {
  const started = new Map<PeerName, ServerProcess>();
  if (peerNames.includes("proofd")) started.set("proofd", await startProofd(store, []));
  if (peerNames.includes("naive")) {
    const main = new URL("./naiveServer.js", import.meta.url).pathname;
    const args = [main, naiveStore, `${Math.max(1, availableParallelism() - 1)}`];
    started.set(
      "naive",
      await startServer({name: "naive", command: process.execPath, args, listening: ANNOUNCEMENT}),
    );
  }
  if (!peerNames.includes("anvil")) return started;
  if (findAnvil() === undefined) say("ANVIL IS NOT INSTALLED: its rows are left out\n");
  else started.set("anvil", await startPeerAnvil(accounts));
  return started;
}

/** Writes progress to standard error; only the figures go to standard output. */
function say(text: string): void {
  process.stderr.write(text);
}
