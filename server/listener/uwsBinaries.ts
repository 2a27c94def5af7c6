/** The only binaries of uWebSockets.js that proofd loads. Their origin: docs/operations.md and SECURITY.md. */

/** Where a clone has them, by release: below node_modules. */
const FOLDERS = {
  /** Node 20, 22, 24; needs glibc 2.38. */
  "20.57.0": "@btc-vision/uwebsockets.js",
  /** Node 20, 22; needs glibc 2.27. */
  "20.0.8": "uWebSockets.js/dist/bin",
} as const;

export class UwsBinary {
  constructor(
    readonly release: keyof typeof FOLDERS,
    readonly machine: string,
    /** process.versions.modules of Node. */
    readonly abi: string,
    readonly bytes: number,
    readonly sha256: string,
  ) {}

  /** Below node_modules. */
  get source(): string {
    return `${FOLDERS[this.release]}/uws_${this.machine}_${this.abi}.node`;
  }

  /** Next to the loader. */
  get name(): string {
    return `uws_${this.release}_${this.machine}_${this.abi}.node`;
  }

  /** All binaries of a release for a machine in the table's order, compressed: each is almost the same as the last. */
  get pack(): string {
    return `uws_${this.release}_${this.machine}.br`;
  }

  fits({platform, arch, versions}: Pick<NodeJS.Process, "platform" | "arch" | "versions">): boolean {
    return this.machine === `${platform}_${arch}` && this.abi === versions.modules;
  }
}

/** Those that fit are tried in this order. */
export const UWS_BINARIES: readonly UwsBinary[] = [
  ...listBinaries("20.57.0", "linux_x64", [
    ["127", 6_975_592, "4b55b1f2cb7a7913febbb65a89496412b96af77e838552980092ba6b33723aac"],
    ["137", 6_975_592, "98128405dba2fb608448e921a979530f70c946a2cc9889c15f2fa70c2d00ab05"],
  ]),
  ...listBinaries("20.57.0", "linux_arm64", [
    ["127", 6_701_744, "82b79bd18d1e3563de336156005bd01b7f39fc387b65173d69a29da4ee79f895"],
    ["137", 6_701_752, "88618b30ddf6b2b62310db89f40a701616676352aac5e0f6184dd8ef876199ce"],
  ]),
  ...listBinaries("20.0.8", "linux_x64", [
    ["115", 6_890_320, "6f8d96d761a64beddb060f1f7f0e617dd293ed127ec1d57507aa561a0083171e"],
    ["127", 6_898_512, "8cabc918bbf9a07323e54f89a33882491080b2eb35df0607f473ccdb1f3c31af"],
  ]),
];

function listBinaries(
  release: keyof typeof FOLDERS,
  machine: string,
  rows: readonly (readonly [abi: string, bytes: number, sha256: string])[],
): UwsBinary[] {
  return rows.map(row => new UwsBinary(release, machine, ...row));
}

/** For users: where one of them loads. */
export const UWS_NEEDS =
  "Linux on x64 with Node 20 or 22, or with Node 24 and glibc 2.38; on arm64, Node 22 or 24 and glibc 2.38 (Debian 13, Ubuntu 24.04)";
