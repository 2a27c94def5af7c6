/**
 * `npm run bench:peers`: proofd, the naive server and anvil, asked the same by the same generator, one after the other.
 *
 *   for each load:  proofd | naive | anvil, proofd | naive | anvil, ...    rounds in turn, the middle one counts
 *
 * The machine's speed changes from minute to minute, so only what stands in one table compares. CPU time is that of the
 * server's process over the measured time, all threads, divided by what was answered in it.
 */
import {join} from "node:path";
import {describeMachine, writeMachine} from "../served/machine.ts";
import {writeRun} from "../served/runFile.ts";
import {ANNOUNCEMENT, type ServerProcess, startProofd, startServer} from "../served/serverProcess.ts";
import {BENCH_FOLDER} from "../stages/benchStore.ts";
import {runProgram} from "../stages/flags.ts";
import {findAnvil, startAnvil} from "./anvil.ts";
import {middleRound, type PeerFigures, type PeerName, runLoad} from "./comparison.ts";
import {makeNaiveStore} from "./naiveStore.ts";
import {listLoads} from "./peerLoads.ts";
import {FLAGS, type PeerOptions, readOptions} from "./peerOptions.ts";
import {writeCosts, writeReport} from "./peerReport.ts";
import {listGenesisAccounts, makePeerStore} from "./peerStore.ts";

await runProgram(
  {
    command: "npm run bench:peers --",
    about:
      "Compares proofd, the naive server and anvil: asks each the same, in turns; prints a table, writes JSON.",
    flags: FLAGS,
  },
  texts => comparePeers(readOptions(texts)),
);

async function comparePeers(options: PeerOptions): Promise<void> {
  const {accounts, rounds, loadNames, peerNames, ...seconds} = options;
  const machine = describeMachine("bench:peers");
  say(`${writeMachine(machine)}\n`);

  const store = await makePeerStore(accounts);
  const naiveStore = join(BENCH_FOLDER, `naive-${accounts}`);
  if (peerNames.includes("naive")) await makeNaiveStore(store, naiveStore);
  const servers = await startServers(options, store, naiveStore);
  const figures: PeerFigures[] = [];
  try {
    for (const load of listLoads(accounts)) {
      if (!loadNames.includes(load.name)) continue;
      const taken = new Map<PeerName, PeerFigures[]>();
      for (let round = 1; round <= rounds; round++) {
        for (const [peer, server] of servers) {
          const choice = load.choices[peer];
          if (choice === undefined) continue;
          const run = await runLoad(peer, server, load, {...choice, ...seconds, seed: round});
          say(`${load.title}, round ${round} of ${rounds}: ${peer} ${writeCosts(run)}\n`);
          taken.set(peer, [...(taken.get(peer) ?? []), run]);
        }
      }
      for (const runs of taken.values()) figures.push(middleRound(runs));
    }
  } finally {
    await Promise.all([...servers.values()].map(server => server.stop()));
  }
  const {table, verdicts} = writeReport(figures);
  process.stdout.write(
    `\n${writeMachine(machine)}, ${accounts} accounts\n\n${table}\n${verdicts.join("\n")}\n`,
  );
  const file = writeRun(`peers-${accounts}`, machine, {accounts, rounds, ...seconds, figures, verdicts});
  say(`wrote ${file}\n`);
}

async function startServers(
  {accounts, peerNames}: PeerOptions,
  store: string,
  naiveStore: string,
): Promise<Map<PeerName, ServerProcess>> {
  const started = new Map<PeerName, ServerProcess>();
  if (peerNames.includes("proofd")) started.set("proofd", await startProofd(store, []));
  if (peerNames.includes("naive")) {
    const main = new URL("./naiveServer.js", import.meta.url).pathname;
    const args = [main, "--db", naiveStore];
    started.set(
      "naive",
      await startServer({name: "naive", command: process.execPath, args, listening: ANNOUNCEMENT}),
    );
  }
  const anvil = findAnvil();
  if (!peerNames.includes("anvil")) return started;
  if (anvil === undefined)
    say("ANVIL IS NOT INSTALLED: its rows are left out (npm install @foundry-rs/anvil-linux-amd64)\n");
  else started.set("anvil", await startAnvil(anvil, listGenesisAccounts(accounts)));
  return started;
}

/** Progress; the figures alone go to standard output. */
function say(text: string): void {
  process.stderr.write(text);
}
