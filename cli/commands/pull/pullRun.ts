/** Runs the pull that the flags describe. */
import {encodeHex} from "../../../client/bytes/hex.ts";
import type {Manifest} from "../../../client/folder/manifest.ts";
import type {AskedPull} from "../../../client/folder/manifestParts.ts";
import {PulledError} from "../../../client/folder/pulledError.ts";
import {type FolderPull, pullFolder} from "../../../client/folder/pullFolder.ts";
import {HASH_SUITES, type HashSuite} from "../../../client/hash/hashSuites.ts";
import {createProofClient, type ProofClient} from "../../../client/methods/proofClient.ts";
import {ProofError} from "../../../client/proof/proofError.ts";
import {RpcError} from "../../../client/rpc/rpcError.ts";
import {createRedaction} from "../../../client/rpc/secrets.ts";
import {WorkError} from "../../../server/lifecycle/workError.ts";
import type {PullOptions} from "../../flags/pullFlags.ts";
import {checkKeys, type KeysFile, readKeys} from "./keysFile.ts";
import type {PullProgress} from "./pullProgress.ts";

/** `partBytes` and `leavesPerRange` are for tests, whose states are small. */
interface PullSettings extends Pick<FolderPull, "signal" | "partBytes" | "leavesPerRange"> {
  /** 32 bytes. */
  readonly trustedRoot: Uint8Array;
  /** For changes: the root of the earlier block. */
  readonly fromRoot: Uint8Array | undefined;
  readonly progress: PullProgress;
}

/** @throws WorkError with the reason why the pull stopped, and what to do */
export async function runPull(options: PullOptions, settings: PullSettings): Promise<Manifest> {
  const {choice, out: folder, resume, command} = options;
  const {progress, signal, partBytes, leavesPerRange} = settings;
  const keys = choice.kind === "keys" ? await checkKeys(choice.file) : undefined;
  try {
    return await pullFolder(createClient(options, settings), askedOf(options, settings, keys), {
      folder,
      resume,
      command,
      signal,
      progress,
      keys: keys && {requests: readKeys(keys.path), count: keys.keys},
      partBytes,
      leavesPerRange,
    });
  } catch (error) {
    if (!(error instanceof PulledError)) throw error;
    const {code} = error;
    // The message shows values that fail verification, and a server may have put secrets of the request into them.
    const message = createRedaction(options.url, options.headers)(error.message);
    const flag = code === "OTHER_SUITE" ? "--suite" : "--out";
    const isStop = code === "STOPPED" || code === "NOTHING_PULLED";
    throw new WorkError(isStop ? message + adviceFor(error) : `${flag}: ${message}`, {cause: error});
  } finally {
    progress.close();
  }
}

/** Advice. A server that lacks the block, or that lied, would do the same for a resumed pull. */
function adviceFor({code, cause}: PulledError): string {
  const isLie = cause instanceof ProofError;
  if (code === "NOTHING_PULLED") return isLie ? "; is the root that of the block given by --block?" : "";
  const isServer = isLie || (cause instanceof RpcError && typeof cause.code === "number");
  return isServer ? "; --resume continues it from another server, given by --url" : "; --resume continues it";
}

function askedOf(
  {suite, format, choice, block}: PullOptions,
  {trustedRoot, fromRoot}: PullSettings,
  keys: KeysFile | undefined,
): AskedPull {
  return {
    suite,
    format,
    pulled: choice.kind,
    addresses: choice.kind === "storage" ? choice.addresses : undefined,
    keys: keys?.sha256,
    fromBlock: choice.kind === "changes" ? choice.from : undefined,
    fromRoot: fromRoot && encodeHex(fromRoot),
    block,
    stateRoot: encodeHex(trustedRoot),
  };
}

/** The client refuses invalid options with a TypeError, such as a root that is not a digest of the suite. */
function createClient({url, headers, block, ...options}: PullOptions, settings: PullSettings): ProofClient {
  const suite = HASH_SUITES.find(({name}) => name === options.suite) as HashSuite;
  const {trustedRoot: root, fromRoot} = settings;
  const trustedRoot =
    fromRoot === undefined ? root : (of: bigint) => (of === BigInt(block) ? root : fromRoot);
  try {
    return createProofClient({url: url.href, headers, suite, trustedRoot});
  } catch (error) {
    if (error instanceof TypeError) throw new WorkError(error.message, {cause: error});
    throw error;
  }
}
