/** A pull into a folder, from its beginning, or from where it was stopped, to its manifest. */
import {HASH_SUITES, type HashSuite} from "../hash/hashSuites.ts";
import type {ProofClient} from "../methods/proofClient.ts";
import {ProofError} from "../proof/proofError.ts";
import type {ProofRequests} from "../pull/piece.ts";
import {RpcError} from "../rpc/rpcError.ts";
import type {AskedPull} from "./askedPull.ts";
import {pullChangesFrom} from "./changesPull.ts";
import {contextOf, pullCodes} from "./codesPull.ts";
import {pullEntries} from "./entriesPull.ts";
import {FolderWriter} from "./folderWriter.ts";
import type {Manifest} from "./manifest.ts";
import {PulledError} from "./pulledError.ts";
import {PULL_START, type PullPlace, type PullProgress, type PullWork} from "./pullPlace.ts";
import {pullTrees} from "./treesPull.ts";

export interface FolderPull {
  /** New or empty. With `resume`, also one whose pull of the same was stopped. */
  readonly folder: string;
  readonly resume: boolean;
  /** For the manifest, for people. It must hold no keys. */
  readonly command: string;
  /** Stops the pull. What was verified stays. */
  readonly signal: AbortSignal;
  readonly progress: PullProgress;
  /** Of a pull of "keys": the same ones each time, and how many addresses and storage keys they are. */
  readonly keys?: {readonly requests: ProofRequests; readonly count: number} | undefined;
  /** Bytes of a part. Default: 32 MiB. */
  readonly partBytes?: number | undefined;
  /** Default: that of pullState. */
  readonly leavesPerRange?: number | undefined;
}

/**
 * @param client - trusts `stateRoot` at `block`, and `fromRoot` at `fromBlock`
 * @returns the manifest
 * @throws PulledError: STOPPED says why the pull stopped, and what stays; others, before anything is pulled, what is wrong with the folder
 */
export async function pullFolder(client: ProofClient, asked: AskedPull, pull: FolderPull): Promise<Manifest> {
  const {folder, resume, command, signal, progress, partBytes, leavesPerRange} = pull;
  const writer = resume
    ? await FolderWriter.resume<PullPlace>(folder, asked, partBytes)
    : FolderWriter.create<PullPlace>(folder, asked, partBytes);
  if (!(writer instanceof FolderWriter)) return writer;
  const {block, stateRoot} = asked;
  const work: PullWork = {
    client,
    suite: HASH_SUITES.find(({name}) => name === asked.suite) as HashSuite,
    block: BigInt(block),
    writer,
    progress,
    signal,
    place: writer.place ?? PULL_START,
    leavesPerRange,
  };
  try {
    const {hash} = await client.getStateRoot({block, signal});
    await pullRows(work, asked, pull.keys);
    const isAll = asked.pulled === "all";
    if (isAll) await pullCodes(work);
    const context = isAll ? contextOf(await client.getHeader({block, signal})) : undefined;
    const {accountTree} = work.place;
    return writer.complete(work.place, {
      command,
      block: {number: block, hash, stateRoot},
      accountTree,
      context,
    });
  } catch (error) {
    throw keepVerified(work, folder, error);
  } finally {
    writer.close();
  }
}

async function pullRows(work: PullWork, asked: AskedPull, keys: FolderPull["keys"]): Promise<void> {
  const {pulled, addresses = [], fromBlock} = asked;
  if (pulled === "keys" && keys !== undefined) return pullEntries(work, keys.requests, keys.count);
  if (pulled === "changes" && fromBlock !== undefined) return pullChangesFrom(work, BigInt(fromBlock));
  if (pulled === "all" || pulled === "accounts") return pullTrees(work, [pulled]);
  const requests = addresses.map(address => ({address, storageKeys: []}));
  await pullEntries(work, requests, addresses.length);
  return pullTrees(work, addresses);
}

/** Finishes the parts with what was verified. @returns the error for the caller */
function keepVerified({writer, place, signal}: PullWork, folder: string, error: unknown): unknown {
  const reason = signal.aborted && error === signal.reason ? (error as Error).message : describe(error);
  if (reason === undefined) return error;
  // A disk that is full takes no more.
  if (!(error instanceof PulledError)) writer.finishParts(place);
  const rows = writer.allRows;
  const kept =
    rows === 0 ? "Nothing was verified before" : `${rows} rows that were verified stay in ${folder}`;
  return new PulledError("STOPPED", `the pull stopped: ${reason}. ${kept}`, error);
}

/** @returns undefined for an error that is a mistake of ours */
function describe(error: unknown): string | undefined {
  if (error instanceof ProofError) return `what the server sent does not verify: ${error.message}`;
  if (error instanceof RpcError)
    return typeof error.code === "number"
      ? `the server refused (${error.code}): ${error.message}`
      : `no useful answer from the server (${error.code}): ${error.message}`;
  return error instanceof PulledError || error instanceof RangeError ? error.message : undefined;
}
