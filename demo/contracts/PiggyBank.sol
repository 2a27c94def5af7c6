// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// Destroyed in a later transaction than it was made in: since Cancun only the ether moves, code and slots stay.
contract PiggyBank {
    uint256 public deposits;

    receive() external payable {
        deposits += 1;
    }

    function close(address payable heir) external {
        selfdestruct(heir);
    }
}
