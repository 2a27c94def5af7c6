/** Runs the pull that the flags describe. */
import {decodeHex, encodeHex} from "../../../client/bytes/hex.ts";
import {type Manifest, readManifest} from "../../../client/folder/manifest.ts";
import {PulledError} from "../../../client/folder/pulledError.ts";
import {type FolderPull, pullFolder} from "../../../client/folder/pullFolder.ts";
import {HASH_SUITES, type HashSuite} from "../../../client/hash/hashSuites.ts";
import {createProofClient, type ProofClient} from "../../../client/methods/proofClient.ts";
import {ProofError} from "../../../client/proof/proofError.ts";
import {RpcError} from "../../../client/rpc/rpcError.ts";
import {createRedaction} from "../../../client/rpc/secrets.ts";
import {WorkError} from "../../../server/lifecycle/workError.ts";
import type {ChangesStart, PullOptions} from "../../flags/pullFlags.ts";
import {readTrustedRoot} from "../rootSource.ts";
import {checkKeys, readKeys} from "./keysFile.ts";
import type {PullProgress} from "./pullProgress.ts";

/** `partBytes` and `leavesPerRange` are for tests, whose states are small. */
interface PullSettings extends Pick<FolderPull, "signal" | "partBytes" | "leavesPerRange"> {
  readonly progress: PullProgress;
}

/** A block and its trusted state root, 32 bytes. */
interface RootedBlock {
  readonly block: number;
  readonly root: Uint8Array;
}

/** @returns the manifest, and where the trusted root came from. @throws WorkError: why the pull stopped, what to do */
export async function runPull(options: PullOptions, settings: PullSettings): Promise<[Manifest, string]> {
  const {suite, format, choice, block, out: folder, resume, command} = options;
  const {root, by} = await readTrustedRoot(options.root);
  const from = choice.kind === "changes" ? await readStart(options, choice.since) : undefined;
  const keys = choice.kind === "keys" ? await checkKeys(choice.file) : undefined;
  try {
    const client = createClient(options, {block, root}, from);
    const asked = {
      suite,
      format,
      pulled: choice.kind,
      addresses: choice.kind === "storage" ? choice.addresses : undefined,
      keys: keys?.sha256,
      fromBlock: from?.block,
      fromRoot: from && encodeHex(from.root),
      block,
      stateRoot: encodeHex(root),
    };
    const manifest = await pullFolder(client, asked, {
      ...settings,
      folder,
      resume,
      command,
      keys: keys && {requests: readKeys(keys.path), count: keys.keys},
    });
    return [manifest, by];
  } catch (error) {
    if (!(error instanceof PulledError)) throw error;
    const {code} = error;
    // The message shows values that fail verification, and a server may have put secrets of the request into them.
    const message = createRedaction(options.url, options.headers)(error.message);
    const flag = code === "OTHER_SUITE" ? "--suite" : "--out";
    const isStop = code === "STOPPED" || code === "NOTHING_PULLED";
    throw new WorkError(isStop ? message + adviceFor(error) : `${flag}: ${message}`, {cause: error});
  } finally {
    settings.progress.close();
  }
}

/** @throws WorkError unless a folder is a completed pull of an earlier block with the same suite */
async function readStart({block, suite}: PullOptions, since: ChangesStart): Promise<RootedBlock> {
  if ("block" in since) return {block: since.block, root: (await readTrustedRoot(since.root)).root};
  const {folder} = since;
  const {block: from, asked} = await withFolder("--changes-from", async () => readManifest(folder));
  if (from.number < block && asked.suite === suite)
    return {block: from.number, root: decodeHex(from.stateRoot)};
  throw new WorkError(
    `--changes-from: expected one of a block below --block (${block}) with the suite ${suite}; ` +
      `the pull in ${folder} is of block ${from.number} with the suite ${asked.suite}`,
  );
}

/** Prefixes errors about the folder with the flag. @throws WorkError */
export async function withFolder<Result>(flag: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof PulledError) throw new WorkError(`${flag}: ${error.message}`, {cause: error});
    throw error;
  }
}

/** Advice. A server that lacks the block, or that lied, would do the same for a resumed pull. */
function adviceFor({code, cause}: PulledError): string {
  const isLie = cause instanceof ProofError;
  if (code === "NOTHING_PULLED") return isLie ? "; is the root that of the block given by --block?" : "";
  const isServer = isLie || (cause instanceof RpcError && typeof cause.code === "number");
  return isServer ? "; --resume continues it from another server, given by --url" : "; --resume continues it";
}

/** The client refuses invalid options with a TypeError, such as a root that is not a digest of the suite. */
function createClient(
  {url, headers, ...options}: PullOptions,
  {block, root}: RootedBlock,
  from: RootedBlock | undefined,
): ProofClient {
  const suite = HASH_SUITES.find(({name}) => name === options.suite) as HashSuite;
  const trustedRoot = from === undefined ? root : (of: bigint) => (of === BigInt(block) ? root : from.root);
  try {
    return createProofClient({url: url.href, headers, suite, trustedRoot});
  } catch (error) {
    if (error instanceof TypeError) throw new WorkError(error.message, {cause: error});
    throw error;
  }
}
