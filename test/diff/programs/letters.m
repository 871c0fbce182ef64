/* Names as Objective-C compilers make them: methods of classes and instances, categories, nested functions. */
#include <stdio.h>
#include <objc/objc.h>
#include <objc/runtime.h>

static volatile unsigned long total;

static void spend(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		total += i;
}

__attribute__((objc_root_class))
@interface Shape { Class isa; unsigned long side; }
+ (Shape *)shape;
- (unsigned long)area;
- (void)growBy:(unsigned long)by times:(int)times;
@end

@implementation Shape
+ (void)initialize { total = 1; }
+ (Shape *)shape { return class_createInstance(self, 0); }
- (unsigned long)area { spend(10000000); return side * side; }
- (void)growBy:(unsigned long)by times:(int)times { for (int i = 0; i < times; i++) { side += by; spend(1000); } }
@end

@interface Shape (Painting)
- (void)paint_in:(int)colour;
@end
@implementation Shape (Painting)
- (void)paint_in:(int)colour { spend(5000000 + colour); }
@end

@interface Square : Shape
@end
@implementation Square
- (unsigned long)area { return [super area] + 1; }
@end

int main(void)
{
	Shape *a = [Shape shape], *b = [Square shape];
	[a growBy:3 times:20000];
	[b growBy:1 times:10000];
	[b paint_in:7];
	spend([a area] + [b area]);
	return total == 42;
}
