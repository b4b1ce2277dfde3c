"""`python -m deviceplugin` is the command line."""

from deviceplugin.app.__main__ import main

if __name__ == "__main__":
    main()
