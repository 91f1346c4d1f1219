from .sacrebleu import main

main()
