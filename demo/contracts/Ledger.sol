// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// Many slots that are set, cleared and set again. Entry i is at slot i.
contract Ledger {
    error Undone(uint256 entries);

    function fill(uint256 from, uint256 to, uint256 value) public {
        for (uint256 slot = from; slot < to; slot++) {
            assembly {
                sstore(slot, add(value, slot))
            }
        }
    }

    function clear(uint256 from, uint256 to) external {
        for (uint256 slot = from; slot < to; slot++) {
            assembly {
                sstore(slot, 0)
            }
        }
    }

    /// Writes slots and reverts: no slot may change.
    function fillAndRevert(uint256 from, uint256 to, uint256 value) external {
        fill(from, to, value);
        revert Undone(to - from);
    }
}
