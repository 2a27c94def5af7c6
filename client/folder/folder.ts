/**
 * Pulls a verified state into a folder, and verifies and reads such folders: `proofd-client/folder`, for Node.
 *
 * @module
 */

export {checkFolder} from "./folderCheck.ts";
export {type Manifest, readManifest} from "./manifest.ts";
export type {AskedPull} from "./manifestParts.ts";
export {PulledError, type PulledErrorCode} from "./pulledError.ts";
export {type FolderPull, pullFolder} from "./pullFolder.ts";
export {type PulledRow, readRows} from "./readRows.ts";
