/** `proofd pull` with small parts and ranges, so that a small chain makes many of them. */
import {PullProgress} from "../../../cli/commands/pull/pullProgress.ts";
import {runPull} from "../../../cli/commands/pull/pullRun.ts";
import {createCommand} from "../../../cli/flags/flagTable.ts";
import {PULL_FLAGS, type PullOptions, readPullOptions} from "../../../cli/flags/pullFlags.ts";
import type {Manifest} from "../../../client/folder/manifest.ts";

const LEAVES_PER_RANGE = 6;

/** @param args - as those of `proofd pull`. @throws WorkError that says why the pull stopped */
export async function pullSmall(
  args: readonly string[],
  partBytes: number,
  signal: AbortSignal = new AbortController().signal,
  onShow: PullProgress["show"] = () => {},
): Promise<Manifest> {
  const read: ReturnType<typeof readPullOptions>[] = [];
  const command = createCommand("pull", "", PULL_FLAGS, (values, self) => {
    read.push(readPullOptions(values, self));
  });
  await command.exitOverride().parseAsync(args, {from: "user"});
  const progress = new PullProgress({isTTY: false, write: () => true});
  progress.show = onShow;
  const settings = {progress, signal, partBytes, leavesPerRange: LEAVES_PER_RANGE};
  const [manifest] = await runPull(read[0] as PullOptions, settings);
  return manifest;
}
