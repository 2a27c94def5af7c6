// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// Destroyed in a later transaction than the one that created it. Since Cancun only the ether moves; code and slots stay.
contract PiggyBank {
    uint256 public deposits;

    receive() external payable {
        deposits += 1;
    }

    function close(address payable heir) external {
        selfdestruct(heir);
    }
}
