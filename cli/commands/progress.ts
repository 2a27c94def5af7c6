/** Shows an import's progress on standard error: a bar on a terminal, otherwise a line every few seconds. */
import {createLines, type Progress} from "./progressLines.ts";

/** A bar has 30 modules. They are loaded with the command, before it watches signals: later one could be missed meanwhile. */
const {createBar} = process.stderr.isTTY === true ? await import("./progressBar.ts") : {createBar: undefined};

/** @param stream - standard error of this process */
export function createProgress(stream: NodeJS.WriteStream): Progress {
  return createBar === undefined ? createLines(stream) : createBar(stream);
}
