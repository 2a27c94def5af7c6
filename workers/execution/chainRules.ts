/**
 * The rules of a chain, as the EVM asks for them: thousands of times for a block.
 *
 * @ethereumjs' Common searches a list for each question about an EIP, and merges the same parameters again for every
 * transaction: a third of the time of a block of token transfers.
 */
import {paramsBlock} from "@ethereumjs/block";
import {Common, type CommonOpts, type ParamsDict} from "@ethereumjs/common";
import {paramsTx} from "@ethereumjs/tx";

export class ChainRules extends Common {
  // Initialised after the constructor of Common, which calls _buildActivatedEIPsCache.
  private activeEips = new Set(this._activatedEIPsCache);
  private merged = new Set<ParamsDict>();

  constructor(options: CommonOpts) {
    super(options);
    // Every block has rules of its own, a copy of these, and merges both.
    this.updateParams(paramsBlock);
    this.updateParams(paramsTx);
  }

  /** Merging the same parameters again changes nothing. */
  override updateParams(params: ParamsDict): void {
    if (this.merged.has(params)) return;
    super.updateParams(params);
    this.merged.add(params);
  }

  override isActivatedEIP(eip: number): boolean {
    return this.activeEips.has(eip);
  }

  override copy(): ChainRules {
    const copy = super.copy() as ChainRules;
    copy.merged = new Set(this.merged);
    return copy;
  }

  protected override _buildActivatedEIPsCache(): void {
    super._buildActivatedEIPsCache();
    this.activeEips = new Set(this._activatedEIPsCache);
  }
}
