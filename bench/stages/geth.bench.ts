/**
 * Following a real node: catching up with geth by each source that it answers; then, with the store that has caught up, how soon
 * a new block shows in proofs.
 */
import {mkdtempSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {measureCatchUp} from "../follow/catchUp.ts";
import {summarizeCatchUp, summarizeTimes} from "../follow/followFigures.ts";
import {measureBlocks} from "../follow/followingService.ts";
import {type GethBinary, GethNode, RECIPIENT, TRANSACTIONS_PER_BLOCK} from "../follow/gethNode.ts";
import {FlagError} from "../program/benchProgram.ts";
import {ProgramMissing} from "../program/foundProgram.ts";
import {findGeth, readGethVersion} from "../served/geth.ts";
import type {StageFigure} from "./benchRun.ts";
import type {FollowStage} from "./stage.ts";

/** Followed before the samples, so that the service is warm. */
const MOST_WARM_UPS = 20;
const MOST_ARRIVALS = 100;
const PAUSE_MS = 1000;

/**
 * @param named - geth's file. Default: findGeth's
 * @throws FlagError if there is no geth
 */
export function createGethStage(named: string | undefined): FollowStage {
  try {
    const path = named ?? findGeth();
    const version = readGethVersion(path);
    process.stdout.write(`beside geth ${version}: ${path}\n`);
    return (suite, blocks) => measureBesideGeth({path, version}, suite, blocks);
  } catch (error) {
    if (error instanceof ProgramMissing) throw new FlagError(`--geth: ${error.message}`);
    throw error;
  }
}

async function* measureBesideGeth(
  geth: GethBinary,
  suite: string,
  blocks: number,
): AsyncGenerator<StageFigure, undefined> {
  const count = Math.min(Math.floor((blocks - 1) / 2), MOST_ARRIVALS);
  const folder = mkdtempSync(join(tmpdir(), "proofd-follow-"));
  try {
    const node = await GethNode.start(geth, blocks, join(folder, "geth"));
    try {
      const {genesisPath, server} = node;
      for (const source of ["execute", "trace"] as const) {
        const db = join(folder, source);
        const followed = {source, genesisPath, url: server.url, processes: [server]};
        const caughtUp = await measureCatchUp(followed, db, suite, blocks);
        yield* summarizeCatchUp(source, caughtUp, TRANSACTIONS_PER_BLOCK);
        for (let i = 0; i < Math.min(blocks, MOST_WARM_UPS); i++) await node.mine();
        const times = await measureBlocks(
          {db, suite, node},
          {address: RECIPIENT, count, pauseMs: PAUSE_MS, flags: ["--source", source]},
        );
        yield* summarizeTimes(`${source}: block to proof`, times, 1, "ms");
      }
    } finally {
      await node.server.stop();
    }
  } finally {
    rmSync(folder, {recursive: true});
  }
}
