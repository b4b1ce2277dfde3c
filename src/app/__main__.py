"""`python -m deviceplugin.app` is the command line."""

from deviceplugin.app.cli import main

if __name__ == "__main__":
    main()
